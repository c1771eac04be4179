"""The API reference, the try-out of operations, and the files to download.

All of it follows from the routes and the descriptions; nothing here names an operation.
"""
