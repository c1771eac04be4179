"""What an admin sees of the running house: its health, its backups, its jobs, and the settings in force."""
