"""One-time links: they let in the first admin, and a visitor who has started the demo."""
