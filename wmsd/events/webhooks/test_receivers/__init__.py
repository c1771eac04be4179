"""Receivers of the house's own, for who has none yet. What they are sent never leaves this process."""
