"""The guide at /docs: its pages from Markdown, its contents, and its search."""
