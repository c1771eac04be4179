"""Upgrades to another version: copies of the files, a trial run on them, and the way back."""
