"""What a site admin sees of the installation: health, backups, jobs, settings in force."""
