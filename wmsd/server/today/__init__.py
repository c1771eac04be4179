"""The open work of all companies as cached numbers, so that one page can show a thousand companies."""
