"""Reads the bytes of a database's file without SQLite.

When a process closes any descriptor of a file, the system drops all locks of this process on it, SQLite's too
(https://sqlite.org/howtocorrupt.html, section 2.2). So a file is read in this way only while no connection of this
process is open to it.
"""

import threading
from collections import Counter
from pathlib import Path
from typing import Final

_LOCK: Final = threading.Lock()
_open: Final[Counter[Path]] = Counter()
"""The open connections of this process, by file."""


def note_opened(path: Path) -> None:
    """Call it before a connection to the file is opened. It waits for a reading of the file that is under way."""
    with _LOCK:
        _open[path] += 1


def note_closed(path: Path) -> None:
    """Call it after a connection to the file was closed."""
    with _LOCK:
        _open[path] -= 1
        if not _open[path]:
            del _open[path]


def first_bytes(path: Path, number: int) -> bytes | None:
    """The first bytes of the file; None while a connection of this process is open to it. Raises OSError."""
    with _LOCK:
        if path in _open:
            return None
        with path.open("rb") as file:
            return file.read(number)
