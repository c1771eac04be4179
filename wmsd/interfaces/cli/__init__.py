"""The command line. Each command imports what it needs only when it runs, so that it starts fast."""
