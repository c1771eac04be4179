"""Descriptors of files and folders that are opened for a short time, to lock or sync the file or folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def open_descriptor(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open the file or folder, yield its descriptor, and close it at the end. Raise OSError if that fails."""
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """Open the folder, and yield a short path to it, for sockets. Raise OSError if that fails.

    The path of a socket may have only about a hundred characters.
    """
    with open_descriptor(folder, os.O_PATH | os.O_DIRECTORY) as descriptor:
        yield f"/proc/self/fd/{descriptor}"


def try_lock(opened: int | IO[str], kind: int) -> bool:
    """Lock an open file or folder without waiting. Return False if a lock of another process prevents this.

    `kind` is `fcntl.LOCK_SH` or `fcntl.LOCK_EX`. Raise OSError, for example on a disk without locks.
    """
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Sync the folder, so that its new entries survive a power cut. Raise OSError if that fails."""
    with open_descriptor(folder) as descriptor:
        os.fsync(descriptor)
