"""The way of a request to its operation and back. Read it from `dispatcher.py` down."""
