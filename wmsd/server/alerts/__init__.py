"""Alerts: messages to people outside of wmsd when a problem begins and when it is over."""
