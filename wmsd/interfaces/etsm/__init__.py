"""The transport integration. Only sites' bearer tokens open it, and no public description lists it."""
