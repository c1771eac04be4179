"""Backups of an installation: create, list, verify and restore them."""
