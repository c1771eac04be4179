"""Users, their tokens, and signing in."""
