"""The API reference, the try-out of operations, and the files to download.

Everything follows from the routes and the descriptions. No code here names an operation.
"""
