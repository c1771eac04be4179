"""Pages of the running installation, for admins."""
