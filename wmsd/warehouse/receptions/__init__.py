"""Receptions: what arrives of a purchase order, until it is posted to stock."""
