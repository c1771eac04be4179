"""One-time links: they let in the first admin, and the user who has started the demo."""
