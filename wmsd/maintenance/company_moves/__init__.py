"""A company that leaves or comes: its freeze, export, import, move and deletion."""
