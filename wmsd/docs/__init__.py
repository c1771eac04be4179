"""The user's guide in Markdown, which the server publishes at /docs."""
