"""Reads the log back: from its files, also while they are rotated, or from the journal of systemd."""
