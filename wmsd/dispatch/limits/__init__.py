"""Limits on requests and writes, by company, person, address and free disk space."""
