"""The command line. Each command imports what it needs when it runs: a command starts fast."""
