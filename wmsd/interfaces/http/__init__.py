"""HTTP: turns requests into calls of the dispatcher, and replies into responses."""
