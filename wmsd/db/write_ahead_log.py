"""The write-ahead log of a file: when it is written back into the file, and that it belongs to the file.

SQLite replays whatever log stands beside a file. When the file was exchanged meanwhile, or the log, that makes a
mixture of both. So each log has a name, written into the table `log` by the first transaction in it, together with
the name of the log before. A log begins anew only when the whole of the log before it is in the file. So the file,
read without its log, has the name of the log or of the one before; with any other name, the two do not belong
together.
"""

from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from wmsd.db.failures import StorageError
from wmsd.db.raw_files import unopened
from wmsd.db.sqlite import connect_as_it_is, log_bytes, sqlite3
from wmsd.db.standing import Standing

MOST_FRAMES: Final = 1000
"""The log is written back when it has as many pages, as SQLite does by itself."""
LOOK: Final = "PRAGMA wal_checkpoint(NOOP)"
WRITE_BACK: Final = "PRAGMA wal_checkpoint(PASSIVE)"
"""Both answer whether another connection was in the way, the pages in the log, and how many of them are in the
file.
"""
BEGIN_ANEW: Final = "UPDATE log SET previous = id, id = random()"
NAMES: Final = "SELECT id, previous FROM log"


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
            connection.execute(BEGIN_ANEW)

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
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def check_log(path: Path) -> None:
    """Raises WrongLog when the log beside the file is not the file's. Call it before the file is opened: nothing
    is checked while this process has it open. A file whose names cannot be read is left to the other checks, as is
    one from before the table `log`.
    """
    if not log_bytes(path.resolve()):
        return
    with unopened(path.resolve()) as is_unopened, suppress(sqlite3.Error):
        if is_unopened and not _belong_together(path):
            raise WrongLog(path)


def _belong_together(path: Path) -> bool:
    """Other processes may be at work in the file. As long as somebody reads with the log, it does not begin anew,
    and no more of it comes into the file than is read here. The file without its log is closed last, as that drops
    all locks.
    """
    with closing(connect_as_it_is(path, without_log=True)) as file, closing(connect_as_it_is(path)) as whole:
        whole.execute("BEGIN")
        names = whole.execute(NAMES).fetchone()
        in_file = file.execute(NAMES).fetchone()
    return in_file is None or in_file[0] in names


class WrongLog(StorageError):
    """The log beside a file is of another file, or of another moment."""

    def __init__(self, path: Path) -> None:
        log = f"{path.name}-wal"
        super().__init__(
            f"{path} and its log {log} do not belong together: one of them was put there since wmsd last wrote "
            f"them. Both were left as they are. To serve the file without the log, move {log} elsewhere; "
            "otherwise put back the file that belongs to the log, or restore it from a backup."
        )
