"""Checks of the figures in a file, for the doctor and the proof of a backup."""
