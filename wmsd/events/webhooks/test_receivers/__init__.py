"""Test receivers inside wmsd, for integrators who have no receiver yet.

Deliveries to a test receiver never leave this process.
"""
