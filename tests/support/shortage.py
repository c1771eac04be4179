"""A machine that has run out of something, for a moment."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from unittest.mock import patch


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process can open nothing: no file, no socket. What is open goes on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def no_more_threads() -> Iterator[None]:
    """A limit of the system does not bind root, so Python's own refusal stands for it."""
    with patch.object(Thread, "start", side_effect=RuntimeError("can't start new thread")):
        yield
