"""The keys of the installation: what seals them, and for whom backups seal them."""
