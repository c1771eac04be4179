"""The data folder: its content, its lock, and how files are lent and replaced."""
