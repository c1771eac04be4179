"""Restores `platform.db` alone, and brings it and the companies' files together again."""
