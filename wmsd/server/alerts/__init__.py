"""Alerts: messages to people outside of wmsd when a problem needs them, and when it is over."""
