"""The kernel interface, for the person who runs the platform."""
