"""Detects that an open file was removed or replaced under its name.

Writes to such a file are lost when it is closed, and SQLite does not check.
"""

import os
from pathlib import Path

from wmsd.db.failures import FileMoved
from wmsd.db.sqlite import BUSY_SECONDS, connect, sqlite3

Identity = tuple[int, int]
"""Device and inode."""


def identity(path: Path | str) -> Identity | None:
    """Device and inode of the file; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # at every commit: a Path takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _state(path: str) -> tuple[int, ...]:
    """A value that changes when the file is written, removed or replaced, or a log is left beside it."""
    found: list[int] = []
    for name in (path, f"{path}-wal"):
        try:
            status = os.stat(name)  # noqa: PTH116  # as `identity`
        except OSError:
            found.append(0)
        else:
            found += (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return tuple(found)


class Standing:
    """The identity of a database's file and of its log, which the first write creates and which stays until all is
    closed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file_name, self._log_name = str(path), f"{path}-wal"
        self.file: Identity | None = None
        self._log: Identity | None = None

        self.moved: FileMoved | None = None
        self._left: tuple[int, ...] | None = None

    def begin(self) -> None:
        """Notes the file's identity; call it before the first connection is opened."""
        self.file, self._log, self.moved, self._left = identity(self._file_name), None, None, None

    def leave(self) -> None:
        """Notes the state of the file; call it after the last connection was closed."""
        self._left = _state(self._file_name)

    @property
    def was_changed(self) -> bool:
        """Whether the file was removed, replaced or written since it was left."""
        return self._left is not None and _state(self._file_name) != self._left

    def check(self) -> None:
        """Raises FileMoved when the file or its log was removed or replaced. It costs two `stat` calls, a few
        microseconds.
        """
        if identity(self._file_name) != self.file:
            self.moved = FileMoved(self.path)
            raise self.moved
        log = identity(self._log_name)
        if log != self._log:
            if self._log is not None:
                self.moved = FileMoved(Path(self._log_name))
                raise self.moved
            self._log = log

    def is_nowhere(self) -> bool:
        """Whether the file was deleted and only this process still has it open: closing it would end it."""
        for opened in Path("/proc/self/fd").iterdir():
            try:
                found = opened.stat()
            except OSError:
                continue
            if (found.st_dev, found.st_ino) == self.file:
                return found.st_nlink == 0
        return False


def keep(connection: sqlite3.Connection, standing: Standing, path: Path) -> bool:
    """Writes everything in the log into the file; if that was deleted, writes a copy to `path` instead.

    Answers whether there is a copy. Raises sqlite3.Error and OSError.
    """
    connection.execute("PRAGMA query_only = OFF")
    connection.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not standing.is_nowhere():
        return False
    copy = connect(path, create=True)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    path.chmod(0o600)
    return True
