"""Imports aiohttp's server first, without reading the system's certificates."""

from wmsd.base.certificates import left_unread

with left_unread():
    from aiohttp import web
    from aiohttp.abc import AbstractAccessLogger
    from aiohttp.http_exceptions import HttpProcessingError

__all__ = ["AbstractAccessLogger", "HttpProcessingError", "web"]
