"""Receptions: the goods that arrive for a purchase order, until they are posted to stock."""
