"""The records, stock and documents in a company's file."""
