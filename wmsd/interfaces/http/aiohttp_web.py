"""Imports what wmsd uses of aiohttp's server. The import does not read the system's certificates."""

from wmsd.base.aiohttp_without_cas import left_unread

with left_unread():
    from aiohttp import HttpVersion11, web
    from aiohttp.abc import AbstractAccessLogger, AbstractStreamWriter
    from aiohttp.helpers import rfc822_formatted_time
    from aiohttp.http_exceptions import HttpProcessingError

__all__ = [
    "AbstractAccessLogger",
    "AbstractStreamWriter",
    "HttpProcessingError",
    "HttpVersion11",
    "rfc822_formatted_time",
    "web",
]
