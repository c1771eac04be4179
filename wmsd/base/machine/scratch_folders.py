"""Folders that a command fills and removes again, and that it may be killed over. Whoever uses one holds a lock on
it, which the system drops with the process: so what a killed command has left is told from what is in use.
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
    """Holds the folder's lock meanwhile. A disk without locks holds none. Raises OSError."""
    with unused(folder):
        yield


@contextmanager
def unused(path: Path, kind: int = fcntl.LOCK_EX) -> Iterator[bool]:
    """Whether no command uses the file or the folder. None begins to as long as it lasts. `kind`: with
    `fcntl.LOCK_SH`, several may ask at once. Raises OSError.
    """
    with open_descriptor(path, AS_IT_IS) as opened:
        try:
            is_free = try_lock(opened, kind)
        except OSError:  # a disk without locks
            is_free = True
        yield is_free
