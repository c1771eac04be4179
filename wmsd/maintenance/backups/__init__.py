"""Backups of an installation: makes, lists, proves and restores them."""
