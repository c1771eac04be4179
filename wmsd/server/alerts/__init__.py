"""Alerts tell people outside when something needs them, and when it is over."""
