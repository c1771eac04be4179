"""Folders that a command fills and removes again, and that it may be killed over. Whoever uses one holds a lock on
it, which the system drops with the process: so what a killed command has left is told from what is in use.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Holds the folder's lock meanwhile. A disk without locks holds none. Raises OSError."""
    opened = _opened(folder)
    try:
        _lock(opened)
        yield
    finally:
        os.close(opened)


@contextmanager
def unused(path: Path) -> Iterator[bool]:
    """Whether no command uses the file or the folder. None begins to as long as it lasts. Raises OSError."""
    opened = _opened(path)
    try:
        yield _lock(opened)
    finally:
        os.close(opened)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _lock(opened: int) -> bool:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return True
    return True
