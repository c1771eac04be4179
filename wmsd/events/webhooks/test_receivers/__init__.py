"""Receivers inside wmsd, for integrators who have none yet.

What they are sent never leaves this process.
"""
