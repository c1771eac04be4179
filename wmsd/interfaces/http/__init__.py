"""HTTP: turns requests into calls at the door, and replies into responses."""
