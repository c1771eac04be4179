"""Links that work once: they let in the first admin, and whoever has started the demo."""
