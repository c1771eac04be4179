"""Checks of the numbers in a file, for the doctor and for the verification of a backup."""
