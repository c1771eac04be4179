"""Transports: sales orders that are loaded and delivered together, all or none."""
