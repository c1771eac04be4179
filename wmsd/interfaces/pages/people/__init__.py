"""Pages on which people sign in, and look after themselves and others."""
