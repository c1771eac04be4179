"""A lock for small files in a folder that are read, changed and replaced.

The lock is on the folder, because the replacement of a file ends a lock on that file.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wmsd.base.machine.descriptors import open_descriptor


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, so that only one process at a time changes its content. Other processes wait.

    Hold the lock only for a short time. Raise OSError if the folder cannot be locked.
    """
    with open_descriptor(folder) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
