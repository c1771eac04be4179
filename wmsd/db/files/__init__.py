"""The files of all companies: which are open, whether they are whole, read-only copies."""
