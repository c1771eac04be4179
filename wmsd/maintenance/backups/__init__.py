"""Backups of an installation: made, listed, proven and restored."""
