"""Commands that import and export files."""
