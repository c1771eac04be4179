"""The user's guide, as Markdown; the program serves it at /docs."""
