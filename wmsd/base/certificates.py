"""The system's certificate authorities, left unread where nobody needs them.

At its import aiohttp reads them, twice, for contexts that are never used here: 40 ms, a tenth of a start. The
server has its own certificate, and what dials out brings a context of its own; aiohttp's then trust nobody.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager


def _read_nothing(context: ssl.SSLContext) -> None:
    pass


@contextmanager
def left_unread() -> Iterator[None]:
    """Contexts that are made within find no authorities."""
    ssl.SSLContext.set_default_verify_paths = _read_nothing  # type: ignore[assignment, method-assign]  # undone below
    try:
        yield
    finally:
        del ssl.SSLContext.set_default_verify_paths  # now its base class's is found again
