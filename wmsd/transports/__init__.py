"""Transports: sales orders of a warehouse that are loaded and delivered together, all of them or none."""
