"""The operations of the kernel interface."""
