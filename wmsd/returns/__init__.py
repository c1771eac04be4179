"""Returns: what comes back, from its announcement to what becomes of it."""
