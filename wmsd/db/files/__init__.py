"""The files of all companies: their opening, checks for damage, and read-only copies."""
