"""Commands that import and export CSV files."""
