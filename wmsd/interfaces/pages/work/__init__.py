"""Pages for the daily work: Today, imports, requests."""
