"""The kernel interface, for who runs the platform."""
