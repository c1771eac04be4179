"""The page Today: all companies that a person may use, the most urgent first."""
