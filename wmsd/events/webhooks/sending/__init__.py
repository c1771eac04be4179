"""The sender of webhooks; start reading at `sender.py`."""
