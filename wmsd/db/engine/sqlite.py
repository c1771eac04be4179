"""Replaces Python's `sqlite3` module by a newer version of SQLite.

Python is linked here with SQLite 3.40. Its WAL mode can corrupt a database that two connections use (the
"WAL-reset" bug, fixed in 3.51.3). The package `pysqlite3` contains a newer SQLite. This module puts it in place of
`sqlite3` before aiosqlite is imported, so that `import sqlite3` means `pysqlite3` everywhere.
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
"""The statement that checks a file for damage. It returns the single value `ok` if SQLite finds no damage."""
CACHE_KIB = 16_384
LOG_BYTES = 16 * 1024 * 1024
"""The size to which SQLite truncates the write-ahead log when the log restarts. So a log that has grown during a
long read gives its disk space back.
"""
TO_WRITE = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "recursive_triggers = ON",
    f"journal_size_limit = {LOG_BYTES}",
    "wal_autocheckpoint = 0",  # the writer does it instead: see `write_ahead_log`
)
THREAD_CACHE_KIB = 4_096
"""The cache size of a thread reader, in KiB. A file may have four thread readers. Frequent reads do not use them,
but the inline reader.
"""

if sqlite3.sqlite_version_info < OLDEST_SAFE:
    raise ImportError(
        f"SQLite {sqlite3.sqlite_version} can corrupt a database in WAL mode; wmsd needs "
        f"{'.'.join(map(str, OLDEST_SAFE))} or later. Install a newer SQLite, or a Python that contains one."
    )


class Connection(sqlite3.Connection):
    """A connection that tells `raw_files.py` when it is closed."""

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
    """Open an autocommit connection that is durable (`synchronous=FULL`) and enforces foreign keys.

    The file must exist unless `create` is True. If the file is locked, wait up to `busy_seconds`. If `alone` is
    True, no other process can open the file while this connection is open. The index of the write-ahead log is
    then in the memory of this process. Raise sqlite3.Error if the file cannot be opened.
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
    """Yield a connection with an open transaction, and commit the transaction at the end. No other process may
    have the file open.

    After the commit, copy all changes from the write-ahead log into the file. An error in the context leaves the
    file unchanged. Raise sqlite3.Error if the transaction fails.
    """
    with closing(connect(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def connect_as_it_is(path: Path, *, without_log: bool = False) -> sqlite3.Connection:
    """Open a read-only connection. The file may be in any state, for example damaged or not migrated.

    With `without_log`, ignore the write-ahead log. Raise sqlite3.Error if that fails.
    """
    return _connected(path, f"mode=ro{'&immutable=1' if without_log else ''}", BUSY_SECONDS)


def connect_leaving_nothing(path: Path) -> sqlite3.Connection:
    """Open a read-only connection that creates no new file next to the database.

    If there is a write-ahead log, its changes are visible. Raise sqlite3.Error if that fails.
    """
    return connect_as_it_is(path, without_log=not log_bytes(path))


def _refuse_irregular(file: Path) -> None:
    """Raise sqlite3.Error if the file is not a regular file. For a pipe, SQLite would wait for the other end.

    A missing file raises nothing here, because SQLite reports it.
    """
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
    """Limit the memory of SQLite in this process to about `size` bytes.

    At the limit, its caches reuse their pages.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA soft_heap_limit = {size}")


def bytes_on_disk(path: Path) -> int:
    """Return the size in bytes of a file together with its write-ahead log, which contains the last writes. Return
    0 if the file is missing.
    """
    return file_bytes(path) + log_bytes(path)


def log_of(path: Path) -> Path:
    """Return the path of a file's write-ahead log, whether or not this log exists."""
    return path.with_name(f"{path.name}-wal")


def log_bytes(path: Path) -> int:
    """Return the size in bytes of a file's write-ahead log, or 0 if there is no such log."""
    return file_bytes(log_of(path))


def file_bytes(path: Path) -> int:
    """Return the size in bytes of a file without its write-ahead log, or 0 if the file is missing."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
