"""Today: all companies of a person on one page, the most urgent first."""
