"""aiohttp's server, imported here first.

At its import aiohttp reads the system's certificates, twice, for a client that is never used with them: 40 ms,
a tenth of a start. So they are left out while it is imported, and its own client trusts nobody; ours brings a
context.
"""

import ssl


def _read_nothing(context: ssl.SSLContext) -> None:
    pass


ssl.SSLContext.set_default_verify_paths = _read_nothing  # type: ignore[assignment, method-assign]  # undone below
try:
    from aiohttp import web
finally:
    del ssl.SSLContext.set_default_verify_paths  # now its base class's is found again

__all__ = ["web"]
