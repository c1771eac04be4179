"""The interface of the transport integration, for callers with the token of a site.

No public description of the API lists the operations of this interface.
"""
