"""Users, their tokens and their sign-ins."""
