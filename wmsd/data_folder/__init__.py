"""The data folder: what stands in it, who has it, how files are lent and replaced."""
