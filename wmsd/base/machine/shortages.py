"""Short-term shortages of a machine: memory, threads, open files."""

import errno
from typing import Final

ERRNOS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
OF_THREADING: Final = ("new thread", "allocate lock")
"""Words of Python's messages for shortages of threads, because Python has no exception type for them."""


def is_shortage(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in ERRNOS
    if isinstance(error, RuntimeError):
        return any(words in str(error) for words in OF_THREADING)
    return isinstance(error, MemoryError)
