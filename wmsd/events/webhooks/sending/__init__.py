"""The sender of webhooks. Read it from `sender.py` down."""
