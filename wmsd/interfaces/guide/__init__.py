"""The guide at /docs: its pages, its table of contents, and its search."""
