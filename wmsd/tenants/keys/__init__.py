"""The keys of the installation: what seals them in `platform.db`, and the phrases that backups seal them to."""
