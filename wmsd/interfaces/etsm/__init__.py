"""The transport integration, which only the bearer token of a site opens.

No public description lists its operations.
"""
