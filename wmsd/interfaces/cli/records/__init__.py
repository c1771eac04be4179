"""Commands about the records of a company."""
