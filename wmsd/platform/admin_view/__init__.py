"""The view of a site admin on the installation: health, backups, jobs, settings in force."""
