"""Transports: sales orders that are loaded and delivered together, all of them or none."""
