"""Keeps aiohttp from reading the system's certificate authorities, which nobody needs.

At its import aiohttp reads them twice, for contexts that are never used here: 40 ms, a tenth of a start. The
server has its own certificate, and outgoing calls bring a context of their own. So aiohttp's contexts trust
nobody.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager


def _read_nothing(context: ssl.SSLContext) -> None:
    pass


@contextmanager
def left_unread() -> Iterator[None]:
    """Within it, new contexts find no certificate authorities."""
    ssl.SSLContext.set_default_verify_paths = _read_nothing  # type: ignore[assignment, method-assign]  # undone below
    try:
        yield
    finally:
        del ssl.SSLContext.set_default_verify_paths  # uncovers the method of the base class
