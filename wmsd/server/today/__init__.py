"""Caches the figures of each company, so that one page can show a thousand companies."""
