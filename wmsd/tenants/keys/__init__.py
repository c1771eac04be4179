"""The keys of the installation: their seal, and the recovery phrases that open backups."""
