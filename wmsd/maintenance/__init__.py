"""What keeps an installation: backups, moves of companies, the doctor, upgrades."""
