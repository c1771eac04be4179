"""The view of a platform admin on the installation: health, backups, jobs, settings in force."""
