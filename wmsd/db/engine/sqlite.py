"""Selects the SQLite library.

Python here links SQLite 3.40, whose WAL mode can corrupt a database that two connections use (the "WAL-reset" bug,
fixed in 3.51.3). `pysqlite3` brings its own SQLite. It replaces `sqlite3` before aiosqlite is imported, so that
`import sqlite3` everywhere means this one.
"""

import sys

import pysqlite3

sys.modules["sqlite3"] = pysqlite3
sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2

import sqlite3  # noqa: E402  (the line above decides which)
from collections.abc import Iterator  # noqa: E402
from contextlib import closing, contextmanager  # noqa: E402
from pathlib import Path  # noqa: E402

import aiosqlite  # noqa: E402

from wmsd.base.machine.regular_files import check_regular, reason_of  # noqa: E402
from wmsd.db.engine.raw_files import note_closed, note_opened  # noqa: E402

__all__ = ["aiosqlite", "bound_caches", "bytes_on_disk", "connect", "sqlite3"]

OLDEST_SAFE = (3, 51, 3)
BUSY_SECONDS = 10.0
QUICK_CHECK = "PRAGMA quick_check(1)"
"""Its one value is `ok` where SQLite finds no damage."""
CACHE_KIB = 16_384
LOG_BYTES = 16 * 1024 * 1024
"""The size to which the log is cut when it starts again, so that the disk gets back what a long
read made it grow.
"""
TO_WRITE = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "recursive_triggers = ON",
    f"journal_size_limit = {LOG_BYTES}",
    "wal_autocheckpoint = 0",  # the writer does it: see `write_ahead_log`
)
THREAD_CACHE_KIB = 4_096
"""The cache of a reader on a thread: a file may have four. Frequent reads use the cache of the inline reader."""

if sqlite3.sqlite_version_info < OLDEST_SAFE:
    raise ImportError(
        f"SQLite {sqlite3.sqlite_version} can corrupt a database in WAL mode; "
        f"wmsd needs {'.'.join(map(str, OLDEST_SAFE))} or later."
    )


class Connection(sqlite3.Connection):
    """Is noted as open from before it is opened until it is closed."""

    file: Path | None = None

    def close(self) -> None:
        try:
            super().close()
        finally:
            if self.file is not None:
                note_closed(self.file)
                self.file = None


def connect(
    path: Path,
    *,
    create: bool = False,
    read_only: bool = False,
    busy_seconds: float = BUSY_SECONDS,
    cache_kib: int = CACHE_KIB,
    alone: bool = False,
) -> sqlite3.Connection:
    """An autocommit connection, durable (`synchronous=FULL`), with foreign keys enforced.

    The file must exist unless `create`. While another connection has it locked, this one waits for `busy_seconds`.
    `alone`: no other process can open the file while this connection has it, and the log's index is in this
    process's memory. Raises sqlite3.Error.
    """
    mode = "ro" if read_only else "rwc" if create else "rw"
    connection = _connected(path, f"mode={mode}{'&vfs=unix-excl' if alone else ''}", busy_seconds)
    try:
        for pragma in (*(() if read_only else TO_WRITE), f"cache_size = -{cache_kib}", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    except (
        UnicodeDecodeError
    ):  # the driver cannot read SQLite's message, which repeats damaged bytes of the schema
        connection.close()
        damage = sqlite3.DatabaseError("malformed database schema")
        damage.sqlite_errorname = "SQLITE_CORRUPT"
        raise damage from None
    return connection


@contextmanager
def sole_transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """A transaction in a file that nobody else has open. At its end the file alone has everything, without a log.
    Raises sqlite3.Error; then nothing was changed.
    """
    with closing(connect(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def connect_as_it_is(path: Path, *, without_log: bool = False) -> sqlite3.Connection:
    """A connection that only reads, to a file in any state. `without_log`: what is in the file itself. Raises
    sqlite3.Error.
    """
    return _connected(path, f"mode=ro{'&immutable=1' if without_log else ''}", BUSY_SECONDS)


def connect_leaving_nothing(path: Path) -> sqlite3.Connection:
    """As `connect_as_it_is`, with the log where there is one. Nothing is left beside a file that has none."""
    return connect_as_it_is(path, without_log=not log_bytes(path))


def _refuse_irregular(file: Path) -> None:
    """SQLite would wait for the other end of a pipe. Raises sqlite3.Error; what is missing is SQLite's matter."""
    try:
        check_regular(file)
    except FileNotFoundError:
        return
    except OSError as error:
        refused = sqlite3.OperationalError(f"unable to open database file: {reason_of(error)}")
        refused.sqlite_errorname = "SQLITE_CANTOPEN"
        raise refused from None


def _connected(path: Path, parameters: str, busy_seconds: float) -> Connection:
    file = path.resolve()
    _refuse_irregular(file)
    note_opened(file)
    try:
        connection: Connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{parameters}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            timeout=busy_seconds,
            factory=Connection,
        )
    except BaseException:
        note_closed(file)
        raise
    connection.file = file
    return connection


def bound_caches(size: int) -> None:
    """SQLite takes about so many bytes in this process at the most. Past them, its caches reuse their pages and do
    not grow.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA soft_heap_limit = {size}")


def bytes_on_disk(path: Path) -> int:
    """The bytes of a file and of its log, which has the last writes; 0 when it is missing."""
    return file_bytes(path) + log_bytes(path)


def log_of(path: Path) -> Path:
    """Where a file's log is, if there is one."""
    return path.with_name(f"{path.name}-wal")


def log_bytes(path: Path) -> int:
    """The bytes of a file's log; 0 when there is none."""
    return file_bytes(log_of(path))


def file_bytes(path: Path) -> int:
    """The bytes of a file by itself; 0 when it is missing."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
