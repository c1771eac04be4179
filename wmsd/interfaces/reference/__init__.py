"""The API reference, the try-out of its operations, and what can be downloaded. All of it follows from the routes
and the descriptions; nothing here names an operation.
"""
