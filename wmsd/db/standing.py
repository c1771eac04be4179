"""Whether the files that are open still stand under their names.

What is written to a file that somebody has removed or replaced is gone when it is closed. SQLite does not look.
"""

import os
from pathlib import Path

from wmsd.db.failures import FileMoved
from wmsd.db.sqlite import connect, sqlite3

Identity = tuple[int, int]
"""Device and inode."""


def identity(path: Path | str) -> Identity | None:
    """None when there is no such file."""
    try:
        found = os.stat(path)  # noqa: PTH116  # at every commit: a Path takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Standing:
    """Of a database's file and of its log, which is made at the first write and stays until all is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file_name, self._log_name = str(path), f"{path}-wal"
        self.file: Identity | None = None
        self._log: Identity | None = None

        self.moved: FileMoved | None = None

    def begin(self) -> None:
        """Before the first connection is opened."""
        self.file, self._log, self.moved = identity(self._file_name), None, None

    def check(self) -> None:
        """Two looks into a folder, a few microseconds. Raises FileMoved."""
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
        """Whether nothing but this process has the file any more: what closes it ends it."""
        for opened in Path("/proc/self/fd").iterdir():
            try:
                found = opened.stat()
            except OSError:
                continue
            if (found.st_dev, found.st_ino) == self.file:
                return found.st_nlink == 0
        return False


def keep(connection: sqlite3.Connection, standing: Standing, path: Path) -> bool:
    """Writes all that the log holds into the file; where that has no name any more, a copy to `path`.

    Whether there is a copy. Raises sqlite3.Error and OSError.
    """
    connection.execute("PRAGMA query_only = OFF")
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
