"""The operations of the kernel interface, by the platform token."""
