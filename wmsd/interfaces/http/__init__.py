"""HTTP: requests become calls of the dispatcher, and replies become responses."""
