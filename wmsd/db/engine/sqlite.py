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
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA recursive_triggers = ON")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # the writer does it: see `write_ahead_log`
        connection.execute(f"PRAGMA cache_size = -{cache_kib}")
        connection.execute("PRAGMA trusted_schema = OFF")
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


def connect_as_it_is(
    path: Path, *, without_log: bool = False, busy_seconds: float = BUSY_SECONDS
) -> sqlite3.Connection:
    """A connection that only reads, to a file in any state. `without_log`: what is in the file itself. Raises
    sqlite3.Error.
    """
    return _connected(path, f"mode=ro{'&immutable=1' if without_log else ''}", busy_seconds)


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
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"PRAGMA soft_heap_limit = {size}")
    finally:
        connection.close()


def bytes_on_disk(path: Path) -> int:
    """The bytes of a file and of its log, which has the last writes; 0 when it is missing."""
    return _bytes_of(path) + log_bytes(path)


def log_bytes(path: Path) -> int:
    """The bytes of a file's log; 0 when there is none."""
    return _bytes_of(path.with_name(f"{path.name}-wal"))


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
