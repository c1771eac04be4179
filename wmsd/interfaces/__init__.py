"""The interfaces pass requests to the dispatcher, and do not know each other.

`service.py` puts them together.
"""
