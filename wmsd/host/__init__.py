"""The machine around the program: systemd, TLS, the one-file program, processes."""
