"""Detects that an open file was removed, replaced or overwritten by another program.

SQLite does not check this. Writes to a removed file are lost when the file is closed. If another program
overwrites an open file, the file gets a mixture of the old and the new content.
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
"""The device and the inode of a file."""


def identity(path: Path | str) -> Identity | None:
    """Return the device and inode of the file, or None if there is no file."""
    try:
        found = os.stat(path)  # noqa: PTH116  # at every commit: a Path takes twice as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _content(status: os.stat_result) -> tuple[int, int]:
    """Return the size and the modification time of a file. They change when the content is written, but not when
    only the owner or mode changes.

    They do not change if a program replaces the content and preserves both.
    """
    return status.st_size, status.st_mtime_ns


def state_of(path: str) -> tuple[int, ...]:
    """Return a value that identifies the state of the file and its write-ahead log. The value changes when one of
    them is written, removed, replaced or created.
    """
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
    """The identity of a database file and of its write-ahead log.

    The first write creates the log. The log stays until all connections are closed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file_name, self._log_name = str(path), f"{path}-wal"
        self.file: Identity | None = None
        self._log: Identity | None = None
        self._content: tuple[int, ...] | None = None
        """The size and modification time of the file after its last write by wmsd. None while other processes may
        write the file too.
        """
        self._is_changing = False
        self.moved: FileMoved | None = None
        self._left: tuple[int, ...] | None = None

    def begin(self, alone: bool = False) -> None:
        """Record the file's identity. Call this before the first connection is opened.

        Pass `alone=True` if no other process may write the file. In this case, the file changes only when wmsd
        copies pages from the write-ahead log into it.
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
        """Accept changes of the file while this context is open. The writer opens this context while it changes
        the file itself. Otherwise its changes would be taken for changes by another program.
        """
        self._is_changing = True
        try:
            yield
        finally:
            self._note_content(self._content is not None)
            self._is_changing = False

    def forget_content(self) -> None:
        """Forget the recorded size and time of the file. Call this after the last connection was closed.

        They are no longer valid: closing copies the write-ahead log into the file, and afterwards other processes
        may write the file.
        """
        self._content = None

    def leave(self) -> None:
        """Record the state of the file for `was_changed`. Call this after the last connection was closed."""
        self.forget_content()
        self._left = state_of(self._file_name)

    @property
    def was_changed(self) -> bool:
        """True if the file was written, removed or replaced after the last call of `leave`."""
        return self._left is not None and state_of(self._file_name) != self._left

    def check(self) -> None:
        """Raise FileMoved if the file or its log was removed or replaced, or if the file was overwritten.

        The check takes two `stat` calls, which is a few microseconds. Any thread may call it.
        """
        self.check_file()
        log = identity(self._log_name)
        if log != self._log:
            if self._log is not None:
                self.moved = FileMoved(Path(self._log_name))
                raise self.moved
            self._log = log

    def check_file(self) -> None:
        """Raise FileMoved as `check` does, but do not check the write-ahead log. Call this before a read."""
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
        if noted is self._content and not self._is_changing:  # the writer made no change meanwhile
            self.moved = FileOverwritten(self.path)
            raise self.moved

    def is_overwritten(self) -> bool:
        """Return True if another program has written into the open file."""
        with suppress(FileMoved):
            self.check_file()
        return isinstance(self.moved, FileOverwritten)

    def is_nowhere(self) -> bool:
        """Return True if the file was deleted, but this process still has it open.

        When this process closes the file, the content is lost.
        """
        for opened in Path("/proc/self/fd").iterdir():
            try:
                found = opened.stat()
            except OSError:
                continue
            if (found.st_dev, found.st_ino) == self.file:
                return found.st_nlink == 0
        return False


def keep_replaced_file(connection: sqlite3.Connection, standing: Standing, path: Path) -> bool:
    """Copy all changes from the write-ahead log into the file. If the file was deleted, write a copy to `path`
    instead.

    Return True if a copy was written. Raise sqlite3.Error or OSError if that fails.
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
    """Return the path for a copy of a file that was removed while wmsd had it open. `now` is the time of the
    removal.
    """
    return path.with_name(f"{path.name}{REMOVED}{timestamps.for_file_name(now)}")


def newest_copy(path: Path) -> Path | None:
    """Return the newest copy of a file that was removed while in use, or None if there is no copy."""
    return max(path.parent.glob(f"{path.name}{REMOVED}*"), default=None)


def keep_log(path: Path, now: datetime) -> sqlite3.Connection | None:
    """Move the write-ahead log of an overwritten file to another name, so that SQLite does not copy it into this
    file.

    SQLite copies the log into the file when the last connection is closed, unless that connection is read-only.
    The caller must call this function before it closes the other connections, and close the returned read-only
    connection last.

    If the file is no longer a database, copy the log instead of moving it, and return None. Errors are logged and
    not raised.
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
        LOG.error("%s was overwritten, and its write-ahead log could not be saved: %s", path, error)
    else:
        LOG.error(
            ("%s was overwritten by another program; the changes that wmsd has written since then are in %s"),
            path,
            kept,
        )
    return connection


def _reading(path: Path) -> sqlite3.Connection | None:
    """Return a read-only connection, or None if the file cannot be opened or is not a database."""
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
