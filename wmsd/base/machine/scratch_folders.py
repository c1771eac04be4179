"""Temporary folders that a command fills and removes again, unless the command is killed.

A command holds a lock on its temporary folder. The system releases the lock when the process ends. Therefore the
folder of a killed command can be distinguished from a folder in use.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wmsd.base.machine.descriptors import open_descriptor, try_lock

AS_IT_IS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Hold the folder's lock while this context is open.

    If the disk has no locks, or if another process holds the lock, continue without the lock. Raise OSError if the
    folder cannot be opened.
    """
    with unused(folder):
        yield


@contextmanager
def unused(path: Path, kind: int = fcntl.LOCK_EX) -> Iterator[bool]:
    """Lock the file or folder while this context is open, and yield True. Yield False if another process holds a
    lock.

    If `kind` is `fcntl.LOCK_SH`, several processes may hold the lock at the same time. On a disk without locks,
    yield True. Raise OSError if the path cannot be opened.
    """
    with open_descriptor(path, AS_IT_IS) as opened:
        try:
            is_free = try_lock(opened, kind)
        except OSError:  # a disk without locks
            is_free = True
        yield is_free
