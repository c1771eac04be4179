"""Commands that run a server, and commands that check a running one."""
