"""The path of a request to its operation and back; start reading at `dispatcher.py`."""
