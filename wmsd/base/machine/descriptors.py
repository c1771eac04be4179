"""Descriptors of files and folders, which are opened for a moment: to lock what they are of, or to sync it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def open_descriptor(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """A descriptor of the file or folder, which is closed at the end. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """A short name of the folder, because a socket's path may have only about a hundred letters. Raises
    OSError.
    """
    with open_descriptor(folder, os.O_PATH | os.O_DIRECTORY) as descriptor:
        yield f"/proc/self/fd/{descriptor}"


def try_lock(opened: int | IO[str], kind: int) -> bool:
    """Locks an open file or folder, unless a lock of somebody else is in the way. Returns whether it did. `kind`:
    `fcntl.LOCK_SH` or `fcntl.LOCK_EX`. Raises OSError, such as on a disk without locks.
    """
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Makes new entries of the folder survive a power cut. Raises OSError."""
    with open_descriptor(folder) as descriptor:
        os.fsync(descriptor)
