"""The data folder: what stands in it, who has it, how it is lent, and how one of its files is replaced."""
