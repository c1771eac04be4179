"""The open work of each company as cached numbers, so that one page can show a thousand."""
