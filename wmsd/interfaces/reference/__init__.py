"""The API reference, the try-out of operations, and the files to download.

The content of all pages is generated from the routes and their descriptions. No code here names an operation.
"""
