"""Tells people outside of the house when something needs them, and when it is over."""
