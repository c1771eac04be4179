"""A company that leaves or comes: its export, its import, its move, its end."""
