"""REST, version 2."""
