"""Commands that maintain an installation: backups, recovery, the doctor, upgrades."""
