"""The keys of the installation: their encryption, and the recovery phrases for backups."""
