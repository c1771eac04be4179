"""Temporary folders that a command fills and removes again, unless it is killed.

A command that uses such a folder holds a lock on it. The system drops the lock with the process. Therefore the
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

    On a disk without locks, do nothing. Raise OSError if that fails.
    """
    with unused(folder):
        yield


@contextmanager
def unused(path: Path, kind: int = fcntl.LOCK_EX) -> Iterator[bool]:
    """Yield True if no command uses the file or folder. While the context is open, no command starts to use it.

    With `kind` `fcntl.LOCK_SH`, several processes may check at the same time. Raise OSError if the path cannot be
    opened.
    """
    with open_descriptor(path, AS_IT_IS) as opened:
        try:
            is_free = try_lock(opened, kind)
        except OSError:  # a disk without locks
            is_free = True
        yield is_free
