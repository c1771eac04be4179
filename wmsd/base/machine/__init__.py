"""What the machine gives and takes: files, locks, memory, the disk, threads."""
