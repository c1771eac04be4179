"""The open work of all companies as cached numbers, so that a thousand display together."""
