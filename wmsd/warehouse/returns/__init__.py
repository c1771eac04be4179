"""Returns: the goods that customers send back, from the announcement to their disposition."""
