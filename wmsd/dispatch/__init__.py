"""The way of a request to its operation and back: read it from `dispatcher.py` down."""
