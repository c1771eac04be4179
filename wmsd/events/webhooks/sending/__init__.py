"""The sender of webhooks: read it from `sender.py` down."""
