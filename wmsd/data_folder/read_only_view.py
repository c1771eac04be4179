"""Looks at a data folder, and writes nothing into it: it may be a copy, on a disk that is read-only."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from wmsd.data_folder.folder import LOCK, DataFolder
from wmsd.data_folder.lending import beside_a_server
from wmsd.db.files.company_file import Borrow


@contextmanager
def read_only_view(folder: DataFolder) -> Iterator[Borrow | None]:
    """While it lasts, no server starts in the folder, or the files can be borrowed from the server that has it.

    A folder without a lock is one that no server has had: a copy. It gets none. Raises StorageError.
    """
    with _lock(folder) as is_free:
        if is_free:
            yield None
            return
    with beside_a_server(folder) as loan:
        if loan is not None:
            loan.borrow(folder.platform_file)
        yield None if loan is None else loan.borrow


@contextmanager
def _lock(folder: DataFolder) -> Iterator[bool]:
    """Whether no server has the folder. Then none starts as long as it lasts."""
    try:
        opened = os.open(folder.path / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # there is none, or it is another user's
        yield True
        return
    try:
        is_free = True
        with suppress(OSError):  # a disk without locks
            try:
                fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                is_free = False
        yield is_free
    finally:
        os.close(opened)
