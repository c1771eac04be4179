"""aiohttp's server, imported here first.

At its import aiohttp reads the system's certificates for a client that is never used with them: 40 ms, a tenth of
a start. So they are left out while it is imported, and its own client trusts nobody; ours brings a context.
"""

import ssl


def _read_nothing(context: ssl.SSLContext, purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH) -> None:
    pass


_read = ssl.SSLContext.load_default_certs
ssl.SSLContext.load_default_certs = _read_nothing  # type: ignore[assignment, method-assign]  # put back below
try:
    from aiohttp import web
finally:
    ssl.SSLContext.load_default_certs = _read  # type: ignore[method-assign]

__all__ = ["web"]
