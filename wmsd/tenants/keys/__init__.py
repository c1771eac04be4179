"""The keys of the installation: their encryption, and the recovery phrases that open backups."""
