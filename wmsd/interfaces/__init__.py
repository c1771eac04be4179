"""The interfaces, which pass requests to the dispatcher and do not import each other.

`service.py` combines them in one web application.
"""
