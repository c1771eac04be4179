"""Commands that keep an installation: backups, recovery, the doctor, upgrades."""
