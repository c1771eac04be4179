"""Reads a file without writing to the file or to its folder.

Therefore wmsd can examine a copy on a read-only disk, and examining a file does not change it. If a database file
has a write-ahead log, SQLite creates files next to it, and copies the log into it. Therefore wmsd copies such a
file together with its log, and reads the copy.
"""

import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from wmsd.base.machine.regular_files import reason_of
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import FIND, Owner, check_owner
from wmsd.db.engine.high_water_mark import HighWaterMark, read_mark
from wmsd.db.engine.raw_files import first_bytes, is_in_use
from wmsd.db.engine.sqlite import connect, connect_as_it_is, file_bytes, log_bytes, sqlite3
from wmsd.db.engine.transaction import Transaction, lone_transaction
from wmsd.db.engine.write_ahead_log import check_log
from wmsd.db.files.integrity import UNREADABLE, as_far_as_possible, opened_to_examine
from wmsd.db.migrations import HEADER, MAGIC, FileKind, has_this_schema, only_by_a_server

SCRATCH: Final = "wmsd-doctor-"
"""The names of folders for copies begin with this text."""
SPARE_BYTES: Final = 64 * 1024 * 1024
"""The bytes that a copy leaves free in the temporary folder."""
LOGS: Final = ("-wal", "-journal")
Content = Literal["good", "missing", "empty", "foreign", "unreadable"]


def content_of(path: Path, kind: FileKind) -> Content:
    """Return what is at the path, judged by the size and the first bytes of the file. It is `good` if the file is
    a database of the kind `kind`, even a damaged one.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "foreign"
        if not status.st_size:
            return "good" if log_bytes(path.resolve()) else "empty"
        header = first_bytes(path.resolve(), HEADER.size)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "unreadable"
    if header is None:  # this process has the file open, so it is a database
        return "good"
    if len(header) < HEADER.size:
        return "foreign"
    magic, application_id = header[: len(MAGIC)], HEADER.unpack(header)[-1]
    return "good" if (magic, application_id) == (MAGIC, kind.application_id) else "foreign"


def has_log(path: Path) -> bool:
    file = path.resolve()
    return any(file_bytes(file.with_name(f"{file.name}{log}")) for log in LOGS)


def owner_of(path: Path) -> Owner | None:
    """Return the owner that is stored in the database file, or None if no owner can be read. The write-ahead log
    is not read.
    """
    with suppress(*UNREADABLE), closing(connect_as_it_is(path, without_log=True)) as connection:
        row = connection.execute(FIND).fetchone()
        return None if row is None else Owner(*row)
    return None


def mark_of(path: Path) -> HighWaterMark | None:
    """Return the high-water mark that is stored in the database file, or None if it cannot be read. The
    write-ahead log is not read.
    """
    with suppress(*UNREADABLE), closing(connect_as_it_is(path, without_log=True)) as connection:
        return read_mark(connection)
    return None


def opened_without_writing(
    path: Path, kind: FileKind, owner: Owner | None = None
) -> AbstractContextManager[Transaction]:
    """Open a snapshot of a file that no server has open. Do not write to the file or its folder. If the file has
    an older schema or a write-ahead log, open a copy, and migrate only the copy.

    There is one exception: if another program has the file open, SQLite opens the file as usual, and writes locks
    and files next to it. The file is not migrated.

    Raise the errors of `opened_to_examine`. Also raise StorageError if there is no space for a copy, or if a file
    that another program has open needs a migration.
    """
    if _is_used(path):
        return opened_to_examine(path, kind, owner, only_by_a_server)
    if content_of(path, kind) == "good" and has_this_schema(path, kind) and not has_log(path):
        return _in_place(path, owner)
    return _in_copy(path, kind, owner)


@contextmanager
def _in_copy(path: Path, kind: FileKind, owner: Owner | None) -> Iterator[Transaction]:
    with ExitStack() as opened:
        copy = _copied(path, opened) if path.is_file() else path
        try:
            tx = opened.enter_context(opened_to_examine(copy, kind, owner))
        except StorageError as error:  # the error names the copy, which is gone when a person reads it
            raise StorageError(str(error).replace(str(copy), str(path))) from error.__cause__
        yield tx


@contextmanager
def _in_place(path: Path, owner: Owner | None) -> Iterator[Transaction]:
    with closing(connect_as_it_is(path, without_log=True)) as connection:
        try:
            if owner is not None:
                check_owner(connection, path, owner)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except (sqlite3.Error, UnicodeDecodeError):
            as_far_as_possible(connection)
        yield lone_transaction(connection)


def _copied(path: Path, opened: ExitStack) -> Path:
    """Copy a file and its log to a temporary folder that only this user may enter. Return the path of the copy.

    The folder is deleted when `opened` is closed. Raise StorageError if the file cannot be copied.
    """
    file = path.resolve()
    sources = [file, *(side for log in LOGS if (side := file.with_name(f"{file.name}{log}")).exists())]
    needed, folder = sum(map(file_bytes, sources)), Path(tempfile.gettempdir())
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE_BYTES:
        raise StorageError(
            f"wmsd examines a copy of {path}, but {folder} has too little space for the copy: "
            f"{needed // 1_000_000} MB are needed, and {free // 1_000_000} MB are free. Free some space there, "
            "or name another folder in TMPDIR."
        )
    scratch = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix=SCRATCH)))
    try:
        for source in sources:
            shutil.copyfile(source, scratch / source.name)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read, or cannot be copied to {scratch}: {reason_of(error)}."
        ) from None
    copy = scratch / file.name
    check_log(path, copy)
    # Closing copies the log into the file. The log of the copy must not be checked as well: its inode is new, and
    # may be that of a deleted log whose name it contains.
    with suppress(sqlite3.Error):
        connect(copy).close()
    return copy


def _is_used(path: Path) -> bool:
    try:
        return path.is_file() and is_in_use(path.resolve())
    except OSError:
        return False
