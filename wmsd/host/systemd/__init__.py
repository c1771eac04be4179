"""The program as a service of systemd: its unit, its places, its journal."""
