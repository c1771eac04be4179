"""The maintenance of an installation: backups, moves of companies, the doctor and upgrades."""
