"""Today: all companies of a person at once, the most urgent first."""
