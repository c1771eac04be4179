"""Use of the machine: files, locks, memory, the disk and threads."""
