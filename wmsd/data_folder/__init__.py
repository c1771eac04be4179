"""The data folder: its files, its lock, and how its files are lent to commands and replaced."""
