"""The write-ahead log of a file: when its pages are copied into the file, and how wmsd checks that the log belongs
to the file.

SQLite replays any log that is next to a file. If the file or the log was replaced in the meantime, the result is a
mixture of both. Therefore each log has a name. The first transaction of a log writes this name into the table
`log`, together with the name of the previous log.

A log restarts only when the whole previous log is in the file. Therefore the file without its log contains either
the name of its current log or the name of the previous log. If it contains any other name, the file and the log do
not belong together.

Each copy that wmsd creates has a new name, and therefore belongs to no log. A copy that another program creates
may have the right name: `file_exchange.py` detects such a copy.
"""

from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_exchange import Found, find_file_and_log, rows_of_log, was_exchanged
from wmsd.db.engine.raw_files import is_locked, unopened_file
from wmsd.db.engine.replaced_files import Standing
from wmsd.db.engine.sqlite import connect_as_it_is, log_bytes, sqlite3

MOST_FRAMES: Final = 1000
"""When the log has this many pages, they are copied into the file. This number is also SQLite's default."""
LOOK: Final = "PRAGMA wal_checkpoint(NOOP)"
WRITE_BACK: Final = "PRAGMA wal_checkpoint(PASSIVE)"
"""`WRITE_BACK` copies pages of the log into the file. `LOOK` copies nothing, and only reports the state of the
log.

Both return three values. The first says whether another connection has prevented the copying. The second is the
number of pages in the log. The third says how many of these pages were copied into the file.
"""
BEGIN_ANEW: Final = """
    UPDATE log SET
        previous = id, id = random(), found_file = ?, found_modified = ?, found_changed = ?, found_log = ?
"""
NAME_COPY: Final = "UPDATE log SET id = random()"
NAMES: Final = "SELECT id, previous FROM log"
UNKNOWN: Final = (None, None, None, None)


class WriteAheadLog:
    """The log, as the writer of its file uses it."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._may_begin_anew: bool | None = None
        """True if the next write may begin a new log, according to the last check. None if this is not known."""
        self._data_version = 0
        """SQLite's data version in the last call of `prepare`. If the version has changed since, another process
        has written.
        """
        self.failure: sqlite3.Error | None = None
        """The error of the last attempt to copy the log's pages into the file, or None."""

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Find out whether the next write may begin a new log. Call this before a transaction."""
        if self._may_begin_anew is not False:
            self._data_version = _data_version(connection)
            _, frames, written = connection.execute(LOOK).fetchone()
            self._may_begin_anew = frames == written

    def name(self, connection: sqlite3.Connection) -> None:
        """Write a new name into the table `log` if this transaction may begin a new log. Call this at the
        beginning of the transaction.
        """
        if self._may_begin_anew and _data_version(connection) == self._data_version:
            connection.execute(BEGIN_ANEW, self._found())

    def _found(self) -> Found | tuple[None, ...]:
        try:
            return find_file_and_log(self._standing.path)
        except OSError:  # the next check of the file reports it
            return UNKNOWN

    def committed(self, connection: sqlite3.Connection) -> None:
        """If the log is long, copy its pages into the file. Call this after a commit. An error is stored in
        `failure` and not raised.
        """
        self._may_begin_anew = False
        with suppress(MemoryError):
            try:
                _, frames, written = connection.execute(LOOK).fetchone()
                if frames >= MOST_FRAMES:
                    with self._standing.changing():
                        _, frames, written = connection.execute(WRITE_BACK).fetchone()
                self._may_begin_anew, self.failure = frames == written, None
            except sqlite3.Error as error:
                self.failure = error


def _data_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def check_log(path: Path, copy: Path | None = None) -> None:
    """Raise WrongLog if the log next to the file does not belong to the file. Call this before the file is opened.

    Some files are not checked: a file that this process has open, a file of a version without the table `log`, and
    a file that cannot be read.

    `copy` is for a folder in which nothing may be written. It is the path of a copy of the file and its log, from
    which the function then reads the names.
    """
    file = path.resolve()
    if not log_bytes(file):
        return
    with unopened_file(file) as is_unopened, suppress(sqlite3.Error, OSError):
        if is_unopened:
            name = _checked_name(path, copy or path)
            if name is not None and not is_locked(file):
                _check_rows(path, name)


def _checked_name(path: Path, read: Path) -> int | None:
    """Return the log name that is stored in the file itself, or None if there is no name. Raise WrongLog if the
    log does not belong to the file.

    `read` is the file, or a copy of it with its log. Other processes may be using the file. The connection `whole`
    reads the file together with its log. While it reads, the log does not restart, and no more pages are copied
    into the file. The connection `file` ignores the log. It is closed last, because closing it removes all locks.
    """
    with closing(connect_as_it_is(read, without_log=True)) as file, closing(connect_as_it_is(read)) as whole:
        whole.execute("BEGIN")
        names, in_file = whole.execute(NAMES).fetchone(), file.execute(NAMES).fetchone()
    if names is None or in_file is None:
        return None
    if in_file[0] not in names:
        raise WrongLog(path)
    return int(in_file[0])


def _check_rows(path: Path, name: int) -> None:
    """Check that the write-ahead log fits the file. `name` is the log name that is stored in the file itself.

    The write-ahead log may contain several versions of the row of the table `log`. This function compares the
    names in these versions with `name`. Raise WrongLog if the log does not fit, and OSError if the rows cannot be
    read.
    """
    rows = rows_of_log(path)
    if not rows or any(row.id == name for row in rows):
        return
    after = [row for row in rows if row.previous == name]
    if not after:
        raise WrongLog(path)
    if was_exchanged(path, after[-1]):
        raise Exchanged(path)


class WrongLog(StorageError):
    """The error if a database file and the write-ahead log next to it do not belong together. The log belongs to
    another file, or to another version of this file.
    """

    def __init__(self, path: Path) -> None:
        log = f"{path.name}-wal"
        super().__init__(
            f"{path} and its log {log} do not belong together: one of the two was exchanged after wmsd last "
            f"wrote them. Both were left unchanged. To use the file without the log, move {log} elsewhere; "
            "otherwise put back the file that belongs to the log, or restore the file from a backup."
        )


class Exchanged(WrongLog):
    """The error if a person has copied a file over the file to which a log belongs. The name of the log fits the
    copy too, but replaying the log would undo the copying.
    """

    def __init__(self, path: Path) -> None:
        log = f"{path.name}-wal"
        StorageError.__init__(
            self,
            f"{path} was copied there, or written by another program, after wmsd had started its log {log}. "
            f"Both were left unchanged. To use the file as it is, move {log} elsewhere: later changes are "
            f"only in that log. To use the file with all changes in the log, copy the log: cp {log} "
            f"{log}.copy && mv {log}.copy {log}",
        )
