"""The operations of the kernel interface, for callers with the platform token."""
