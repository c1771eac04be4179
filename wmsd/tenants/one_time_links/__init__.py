"""Links that work once and let somebody in: the first admin, or whoever has started the demo."""
