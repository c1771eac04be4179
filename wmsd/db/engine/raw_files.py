"""Reads a database file without SQLite's locks.

When a process closes any descriptor of a file, the system drops all locks of this process on the file. These
include SQLite's locks (https://sqlite.org/howtocorrupt.html, section 2.2). Therefore wmsd reads a file in this way
only while this process has no connection to it. During the read, no thread can open a connection.
"""

import fcntl
import os
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wmsd.base.machine.descriptors import open_descriptor
from wmsd.base.machine.regular_files import check_regular

FLOCK: Final = struct.Struct("@ h h q q i 4x")
"""The structure of fcntl(2): type, whence, start, length, process."""
SHARED: Final = (0x40000000 + 2, 510)
"""The position of the lock that each connection holds, and the number of locked bytes
(https://sqlite.org/lockingv3.html).
"""
_CHANGED: Final = threading.Condition()
_open: Final[Counter[Path]] = Counter()
"""The number of connections that this process has to each file."""
_held: Final[dict[Path, int]] = {}
"""The files that a thread is reading without locks. Each value is the id of the thread."""


def note_opened(path: Path) -> None:
    """Count a connection that is about to be opened. First wait until no other thread reads the file without
    locks.
    """
    own = threading.get_ident()
    with _CHANGED:
        while _held.get(path, own) != own:
            _CHANGED.wait()
        _open[path] += 1


def note_closed(path: Path) -> None:
    """Record that a connection to the file was closed."""
    with _CHANGED:
        _open[path] -= 1
        if not _open[path]:
            del _open[path]


@contextmanager
def unopened_file(path: Path) -> Iterator[bool]:
    """Yield True if this process has no connection to the file. While this context is open, no other thread can
    open one.

    Yield False if this process has a connection.
    """
    with _CHANGED:
        while path in _held:
            _CHANGED.wait()
        is_unopened = path not in _open
        if is_unopened:
            _held[path] = threading.get_ident()
    try:
        yield is_unopened
    finally:
        if is_unopened:
            with _CHANGED:
                del _held[path]
                _CHANGED.notify_all()


def first_bytes(path: Path, number: int) -> bytes | None:
    """Return the first bytes of the file, or None while this process has a connection to it.

    Raise OSError if the file cannot be read.
    """
    with unopened_file(path) as is_unopened:
        if not is_unopened:
            return None
        check_regular(path)
        with path.open("rb") as file:
            return file.read(number)


def is_in_use(path: Path) -> bool:
    """Return True if any process has an open connection that has read the file.

    Raise OSError if the file cannot be read.
    """
    with unopened_file(path) as is_unopened:
        return not is_unopened or is_locked(path)


def is_locked(path: Path) -> bool:
    """Return True if another process has an open connection that has read the file.

    Call this within `unopened_file`.
    """
    check_regular(path)
    with open_descriptor(path) as opened:
        asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, *SHARED, 0)
        in_the_way, *_ = FLOCK.unpack(fcntl.fcntl(opened, fcntl.F_GETLK, asked))
    return bool(in_the_way != fcntl.F_UNLCK)
