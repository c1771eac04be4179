"""The interface of the transport integration, for callers with the token of a site.

No public description lists its operations.
"""
