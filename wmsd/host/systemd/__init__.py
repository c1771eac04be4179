"""The program as a service of systemd: its unit, its paths, its journal."""
