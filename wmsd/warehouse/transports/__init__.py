"""Transports: sales orders that are loaded and delivered together, either all or none."""
