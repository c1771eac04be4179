"""Transports: sales orders of a warehouse that are loaded and delivered together, all or none."""
