"""aiohttp's server, imported here first, without the system's certificates."""

from wmsd.base.certificates import left_unread

with left_unread():
    from aiohttp import web

__all__ = ["web"]
