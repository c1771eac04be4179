"""Pages on which people sign in, and manage their own account and the rights of others."""
