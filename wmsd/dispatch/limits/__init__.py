"""What bounds requests and writes, and weighs work: by company, person and address, and by the disk."""
