"""Bounds of requests and writes: by company, person and address, and by the disk."""
