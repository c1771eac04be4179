"""The write-ahead log of a file: when it is written back into the file, and that it belongs to the file.

SQLite replays whatever log stands beside a file. When the file was exchanged meanwhile, or the log, that makes a
mixture of both. So each log has a name, written into the table `log` by the first transaction in it, together with
the name of the log before. A log begins anew only when the whole of the log before it is in the file. So the file,
read without its log, has the name of the log or of the one before; with any other name, the two do not belong
together. Each copy that wmsd makes gets a name of its own, so it belongs to no log. A copy that somebody else has
made may have the right name: `file_exchange.py` detects it.
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
"""The log is written back when it has as many pages, as SQLite does by itself."""
LOOK: Final = "PRAGMA wal_checkpoint(NOOP)"
WRITE_BACK: Final = "PRAGMA wal_checkpoint(PASSIVE)"
"""Both answer whether another connection was in the way, the pages in the log, and how many of them are in the
file.
"""
BEGIN_ANEW: Final = """
    UPDATE log SET
        previous = id, id = random(), found_file = ?, found_modified = ?, found_changed = ?, found_log = ?
"""
NAME_COPY: Final = "UPDATE log SET id = random()"
NAMES: Final = "SELECT id, previous FROM log"
UNKNOWN: Final = (None, None, None, None)


class WriteAheadLog:
    """The log as the writer of its file uses it."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._may_begin_anew: bool | None = None
        """Whether the next write may begin a new log, as far as is known; None: not known."""
        self._data_version = 0
        """Of the file when that was found out: another process may write before this one does."""
        self.failure: sqlite3.Error | None = None
        """Why the log could not be written back the last time."""

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Call it before a transaction."""
        if self._may_begin_anew is not False:
            self._data_version = _data_version(connection)
            _, frames, written = connection.execute(LOOK).fetchone()
            self._may_begin_anew = frames == written

    def name(self, connection: sqlite3.Connection) -> None:
        """Call it in the transaction: it may be the first one of a new log."""
        if self._may_begin_anew and _data_version(connection) == self._data_version:
            connection.execute(BEGIN_ANEW, self._found())

    def _found(self) -> Found | tuple[None, ...]:
        try:
            return find_file_and_log(self._standing.path)
        except OSError:  # the next look at the file says so
            return UNKNOWN

    def committed(self, connection: sqlite3.Connection) -> None:
        """Writes a long log back into the file. A failure changes nothing, and is kept."""
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
    """Raises WrongLog when the log beside the file is not the file's. Call it before the file is opened: nothing
    is checked while this process has it open. A file whose names cannot be read is left to the other checks, as is
    one from before the table `log`. `copy` of both is read instead where nothing may be written beside the file.
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
    """The name that the file has without its log; None where it has none. Raises WrongLog.

    Other processes may be at work in the file. As long as somebody reads with the log, it does not begin anew,
    and no more of it comes into the file than is read here. The file without its log is closed last, as that drops
    all locks.
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
    """By what the log itself says. Raises WrongLog and OSError."""
    rows = rows_of_log(path)
    if not rows or any(row.id == name for row in rows):
        return
    after = [row for row in rows if row.previous == name]
    if not after:
        raise WrongLog(path)
    if was_exchanged(path, after[-1]):
        raise Exchanged(path)


class WrongLog(StorageError):
    """The log beside a file is of another file, or of another moment."""

    def __init__(self, path: Path) -> None:
        log = f"{path.name}-wal"
        super().__init__(
            f"{path} and its log {log} do not belong together: one of them was put there since wmsd last wrote "
            f"them. Both were left as they are. To serve the file without the log, move {log} elsewhere; "
            "otherwise put back the file that belongs to the log, or restore it from a backup."
        )


class Exchanged(WrongLog):
    """The log would fit, and undo what somebody has put the file there for."""

    def __init__(self, path: Path) -> None:
        log = f"{path.name}-wal"
        StorageError.__init__(
            self,
            f"{path} was put there, or written by another program, after wmsd had begun its log {log}. Both were "
            f"left as they are. To serve the file as it is, move {log} elsewhere: what was written since the file "
            f"was copied is in that log alone. To serve the file with all that the log holds, copy the log: "
            f"cp {log} {log}.copy && mv {log}.copy {log}",
        )
