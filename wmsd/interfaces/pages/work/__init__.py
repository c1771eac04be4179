"""Pages of the day: Today, imports, requests."""
