"""The log: writes it, and reads it back from its files or from the journal of systemd."""
