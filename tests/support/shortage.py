"""A machine that has run out of a resource for a short time."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from unittest.mock import patch


@contextmanager
def no_more_files() -> Iterator[None]:
    """Prevent this process from opening files and sockets. Files and sockets that are open stay usable."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def no_more_threads() -> Iterator[None]:
    """Prevent new threads.

    The system's limit does not apply to root, so this raises the error that Python would raise.
    """
    with patch.object(Thread, "start", side_effect=RuntimeError("can't start new thread")):
        yield
