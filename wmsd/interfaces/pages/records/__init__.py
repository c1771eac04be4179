"""Pages of the records of a company."""
