"""Detects that an open file was removed, replaced or overwritten by another program.

Writes to a file without its name are lost when it is closed, one that is overwritten becomes a mixture, and SQLite
does not check.
"""

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from wmsd.base import timestamps
from wmsd.db.engine.failures import FileMoved, FileOverwritten
from wmsd.db.engine.sqlite import BUSY_SECONDS, connect, log_of, sqlite3

LOG = logging.getLogger("wmsd.data")
REMOVED: Final = ".removed-"
READ: Final = "SELECT count(*) FROM sqlite_schema"
Identity = tuple[int, int]
"""Device and inode."""


def identity(path: Path | str) -> Identity | None:
    """Device and inode of the file; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # at every commit: a Path takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _content(status: os.stat_result) -> tuple[int, int]:
    """A value that changes when the file is written, and not when only its owner or its mode is changed. A copy
    that keeps the time of this very file is its equal.
    """
    return status.st_size, status.st_mtime_ns


def state_of(path: str) -> tuple[int, ...]:
    """A value that changes when the file is written, removed or replaced, or a log is left beside it."""
    found: list[int] = []
    for name in (path, f"{path}-wal"):
        try:
            status = os.stat(name)  # noqa: PTH116  # as `identity`
        except OSError:
            found.append(0)
        else:
            found += (status.st_dev, status.st_ino, *_content(status))
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
        self._content: tuple[int, ...] | None = None
        """As it was left by the last write; None while other processes may write the file too."""
        self._is_changing = False
        self.moved: FileMoved | None = None
        self._left: tuple[int, ...] | None = None

    def begin(self, alone: bool = False) -> None:
        """Notes the file's identity; call it before the first connection is opened. `alone`: no other process may
        write the file. Its content then changes only while the log is written back.
        """
        self.file, self._log, self.moved, self._left = identity(self._file_name), None, None, None
        self._is_changing = False
        self._note_content(alone)

    def _note_content(self, alone: bool) -> None:
        self._content = None
        if alone:
            with suppress(OSError):
                self._content = _content(os.stat(self._file_name))  # noqa: PTH116  # as `identity`

    @contextmanager
    def changing(self) -> Iterator[None]:
        """While it lasts, the writer changes the file."""
        self._is_changing = True
        try:
            yield
        finally:
            self._note_content(self._content is not None)
            self._is_changing = False

    def forget_content(self) -> None:
        """Call it after the last connection was closed: closing writes the log into the file, and others may write
        it from then on.
        """
        self._content = None

    def leave(self) -> None:
        """Notes the state of the file; call it after the last connection was closed."""
        self.forget_content()
        self._left = state_of(self._file_name)

    @property
    def was_changed(self) -> bool:
        """Whether the file was removed, replaced or written since it was left."""
        return self._left is not None and state_of(self._file_name) != self._left

    def check(self) -> None:
        """Raises FileMoved when the file or its log was removed or replaced, or the file overwritten. It costs two
        `stat` calls, a few microseconds. Any thread may call it.
        """
        self.check_file()
        log = identity(self._log_name)
        if log != self._log:
            if self._log is not None:
                self.moved = FileMoved(Path(self._log_name))
                raise self.moved
            self._log = log

    def check_file(self) -> None:
        """As `check`, without the log: before a read."""
        noted = self._content
        try:
            status = os.stat(self._file_name)  # noqa: PTH116  # as `identity`
        except OSError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self.file:
            self.moved = FileMoved(self.path)
            raise self.moved
        if noted is None or self._is_changing or _content(status) == noted:
            return
        if noted is self._content and not self._is_changing:  # the writer did not change it between the two looks
            self.moved = FileOverwritten(self.path)
            raise self.moved

    def is_overwritten(self) -> bool:
        """Whether another program has written into the file that is open."""
        with suppress(FileMoved):
            self.check_file()
        return isinstance(self.moved, FileOverwritten)

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


def keep_replaced_file(connection: sqlite3.Connection, standing: Standing, path: Path) -> bool:
    """Writes everything in the log into the file; if that was deleted, writes a copy to `path` instead.

    Answers whether there is a copy. Raises sqlite3.Error and OSError.
    """
    connection.execute("PRAGMA query_only = OFF")
    connection.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not standing.is_nowhere():
        return False
    with closing(connect(path, create=True)) as copy:
        connection.backup(copy)
    path.chmod(0o600)
    return True


def copy_at(path: Path, now: datetime) -> Path:
    """Where a copy is kept of a file that somebody removes now, while it is served."""
    return path.with_name(f"{path.name}{REMOVED}{timestamps.for_file_name(now)}")


def newest_copy(path: Path) -> Path | None:
    """The newest copy of a file that somebody removed while it was served; None where nothing was kept."""
    return max(path.parent.glob(f"{path.name}{REMOVED}*"), default=None)


def keep_log(path: Path, now: datetime) -> sqlite3.Connection | None:
    """Moves the log of a file that was overwritten aside, and keeps it from being written into that file: call it
    before the other connections are closed, and close its connection after them.

    The last connection that is closed writes the log back, unless it can only read. Where what stands there is no
    database any more, the log is copied, and there is no connection. What cannot be kept is told in the log.
    """
    log = log_of(path)
    kept = log.with_name(f"{log.name}.overwritten-{timestamps.for_file_name(now)}")
    connection = None
    try:
        connection = _reading(path)
        if connection is None:
            shutil.copy(log, kept)
        else:
            log.rename(kept)
    except OSError as error:
        LOG.error("%s was overwritten, and its log could not be kept: %s", path, error)
    else:
        LOG.error("%s was overwritten; what was written to it since is in %s, for whoever can use it", path, kept)
    return connection


def _reading(path: Path) -> sqlite3.Connection | None:
    """A connection that can only read; None where that cannot be done."""
    try:
        connection = connect(path, read_only=True, alone=True)
    except sqlite3.Error:
        return None
    try:
        connection.execute(READ).fetchone()
    except sqlite3.Error:
        connection.close()
        return None
    return connection
