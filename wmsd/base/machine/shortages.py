"""Shortages that a machine can have for a moment: memory, threads, open files."""

import errno
from typing import Final

ERRNOS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
OF_THREADING: Final = ("new thread", "allocate lock")
"""Words of Python's messages, because it has no exception type for these."""


def is_shortage(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in ERRNOS
    if isinstance(error, RuntimeError):
        return any(words in str(error) for words in OF_THREADING)
    return isinstance(error, MemoryError)
