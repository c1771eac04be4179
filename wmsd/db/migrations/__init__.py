"""The migrations of each kind of file: numbered scripts, run in order.

Each kind has a folder of scripts `NNNN_what.sql`. All scripts that a file needs run in one transaction. `PRAGMA
user_version` is the number of the last script; `application_id` is the kind of file.
"""

import os
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.machine.descriptors import sync_folder
from wmsd.base.machine.private_files import create_folders, give_to_owner_of
from wmsd.base.machine.regular_files import reason_of
from wmsd.db.engine.failures import StorageError, is_damage, is_delay, is_of_disk
from wmsd.db.engine.file_owner import Owner, claim_file
from wmsd.db.engine.high_water_mark import HighWaterMark, read_mark
from wmsd.db.engine.raw_files import first_bytes
from wmsd.db.engine.sqlite import BUSY_SECONDS, connect, connect_leaving_nothing, log_bytes, sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.db.engine.write_ahead_log import check_log
from wmsd.db.migrations import schema_check
from wmsd.db.migrations.digests import DIGESTS

FOLDER: Traversable = files(__name__)


@dataclass(frozen=True, slots=True)
class FileKind:
    name: str
    application_id: int

    def scripts(self) -> tuple[Traversable, ...]:
        return _scripts(self.name)


@cache
def _scripts(kind: str) -> tuple[Traversable, ...]:
    found = (each for each in (FOLDER / kind).iterdir() if each.name.endswith(".sql"))
    return tuple(sorted(found, key=lambda script: script.name))


HEADER: Final = struct.Struct("> 16s H BB 8x I 28x I 4x I")
"""Fields of a database file's first bytes: the magic string, the page size, the file format versions for writing
and for reading, the number of pages, the `user_version`, and the `application_id`.
"""
MAGIC: Final = b"SQLite format 3\0"
WITH_LOG: Final = 2
"""The file format version of a file that uses a write-ahead log."""
PLATFORM: Final = FileKind("platform", 0x776D7370)
COMPANY: Final = FileKind("company", 0x776D7363)

Before = Callable[[Path], None]
"""A function that is called before a file is migrated, while no process has the file open. If it raises
StorageError, the file is not migrated.
"""


def at_once(path: Path) -> None:
    """Allow the migration of a file by doing nothing. Use this function as `before` if the file is a copy."""


def only_by_a_server(path: Path) -> None:
    """Raise StorageError, so that the file is not migrated. Commands use this function as `before`.

    Only a server migrates this file, because a server first saves a copy.
    """
    raise StorageError(
        f"{path} was written by an older wmsd and was not changed. Start `wmsd serve`, which saves a "
        "copy and migrates the file; then try again."
    )


def create_file(path: Path, kind: FileKind, owner: Owner | None = None) -> None:
    """Create a new file of this kind for its owner.

    Raise StorageError if that fails. An existing file is never changed.
    """
    if path.exists():
        raise StorageError(f"{path} already exists; it was not changed.")
    unfinished = path.with_name(f"{path.name}.new")
    try:
        create_folders(path.parent)
        for remains in path.parent.glob(f"{unfinished.name}*"):
            remains.unlink()
        with closing(connect(unfinished, create=True)) as connection:
            _run_scripts(connection, unfinished, kind, owner)
        put_in_place(unfinished, path)
    except (sqlite3.Error, OSError) as error:
        raise StorageError(f"{path} cannot be created: {error}.") from error


def put_in_place(unfinished: Path, path: Path) -> None:
    """Rename a finished file to its final name. After a power failure, the file is either complete or missing."""
    give_to_owner_of(path.parent, unfinished)
    unfinished.chmod(0o600)  # platform.db contains the keys that sign tokens
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.rename(path)
    sync_folder(path.parent)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """An open file that has this program's schema and the right owner."""

    connection: sqlite3.Connection
    is_as_it_was: bool
    """True if opening the file wrote nothing to it."""
    older: HighWaterMark | None = None
    """If the file is an older copy, its high-water mark, which is lower than the expected mark. Otherwise None."""


def migrate(
    path: Path,
    kind: FileKind,
    owner: Owner | None = None,
    before: Before = at_once,
) -> None:
    """Migrate a file to this program's schema, and close it. Take the parameters of `open_checked`, and raise its
    errors.
    """
    open_checked(path, kind, owner=owner, before=before).connection.close()


def open_checked(
    path: Path,
    kind: FileKind,
    busy_seconds: float = BUSY_SECONDS,
    alone: bool = False,
    owner: Owner | None = None,
    mark: HighWaterMark | None = None,
    before: Before = at_once,
) -> CheckedFile:
    """Open a file and migrate it to this program's schema.

    `busy_seconds` is the longest wait for a lock of another program. With `alone`, no other process can use the
    file while it is open. `mark` is the expected high-water mark. `before` is called before a file of an older
    schema is migrated.

    Raise StorageError if the file has another owner, or cannot be opened or migrated. The file does not change
    then.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise StorageError(
            f"{path} is missing. Restore the file from a backup; wmsd does not create it again."
        ) from None
    except OSError as error:
        raise StorageError(f"{path} cannot be used: {reason_of(error)}.") from None
    if not stat.S_ISREG(mode):  # opening a pipe would wait for its other end
        raise StorageError(
            f"{path} cannot be used, because it is not a file. It was not changed. Restore the file from a backup."
        )
    try:
        if not is_current(path, kind) and _check(path, kind, busy_seconds) < len(kind.scripts()):
            before(path)
        return _open(path, kind, busy_seconds, alone, owner, mark)
    except sqlite3.DatabaseError as error:
        remedy = "Restore it from a backup."
        if not os.access(path, os.W_OK):
            remedy = "Give the user that runs wmsd the permission to write this file."
        elif is_delay(error):
            remedy = "Another program has locked the file. wmsd tries again at the next request."
        elif is_of_disk(error):
            remedy = "Check whether the disk is full, failing or read-only."
        raise StorageError(f"{path} cannot be used: {error}. Nothing was changed. {remedy}") from error


def _open(
    path: Path,
    kind: FileKind,
    busy_seconds: float,
    alone: bool,
    owner: Owner | None,
    mark: HighWaterMark | None,
) -> CheckedFile:
    connection = connect(path, busy_seconds=busy_seconds, alone=alone)
    try:
        _check_kind(connection, path, kind)
        was_current = _version(connection) == len(kind.scripts())
        if not was_current:
            _run_scripts(connection, path, kind, owner)
        elif owner is not None:
            claim_file(connection, path, owner)
        is_as_it_was = was_current and not connection.total_changes
        if mark is not None and (found := read_mark(connection)).last_change < mark.last_change:
            return CheckedFile(connection, is_as_it_was, found)
        return CheckedFile(connection, is_as_it_was)
    except BaseException:
        connection.close()
        raise


def _run_scripts(connection: sqlite3.Connection, path: Path, kind: FileKind, owner: Owner | None) -> None:
    """Run all scripts that the file needs, in one transaction. Raise sqlite3.Error if the file cannot be read or
    written.

    Raise StorageError if the content of the file does not match a script, or if the file has another owner.
    """
    connection.execute("BEGIN EXCLUSIVE")
    version = _version(connection)  # another process may have come first
    connection.execute(f"PRAGMA application_id = {kind.application_id}")
    for script in kind.scripts()[version:]:
        try:
            for statement in _statements(script.read_text(encoding="utf-8")):
                connection.execute(statement)
        except sqlite3.Error as error:
            if is_damage(error) or is_delay(error) or is_of_disk(error):
                raise
            raise StorageError(
                f"{path} cannot be migrated: the migration script {script.name} failed ({error}). The "
                "file was not changed. Continue with the previous version of wmsd, and report this "
                "error."
            ) from error
    connection.execute(f"PRAGMA user_version = {len(kind.scripts())}")
    if owner is not None:
        claim_file(connection, path, owner)
    connection.execute("COMMIT")


class ForeignSchema(StorageError):
    """The file has a schema that wmsd did not create.

    `found` names the differences: tables, indexes, triggers and views that were added, changed or removed.
    """

    def __init__(self, path: Path, found: str) -> None:
        super().__init__(
            f"{path} has a schema that wmsd did not create. Differences: {found}. Nothing was changed. Restore "
            "the file from a backup, or stop wmsd and drop your own tables and triggers with the sqlite3 "
            "program."
        )
        self.found = found


def check_schema(path: Path, kind: FileKind) -> None:
    """Raise StorageError if the file is of another kind, or if a newer program has created it.

    Raise ForeignSchema if the schema is not what the migrations create, and sqlite3.Error if the file cannot be
    read. This check runs no trigger or other SQL of the file.
    """
    with closing(connect_leaving_nothing(path)) as connection:
        schema_check.restrict(connection)
        _check_kind(connection, path, kind)
        if found := foreign_parts(connection, kind):
            raise ForeignSchema(path, found)


def foreign_parts(of: sqlite3.Connection | Transaction, kind: FileKind, are_own_indexes_fine: bool = False) -> str:
    """Return a text with the tables, indexes, triggers and views that the migrations did not create in this form.

    Return "" if there are none. With `are_own_indexes_fine`, ignore indexes that a person has added. Raise
    sqlite3.Error if the schema cannot be read.
    """
    found = schema_check.read(of)
    if schema_check.digest(found) == DIGESTS.get(kind.name):
        return ""
    [(version,)] = of.execute("PRAGMA user_version")
    made = _made(kind.name, min(max(version, 0), len(kind.scripts())))  # anyone can write any number into a file
    return schema_check.differences(
        schema_check.without_own_indexes(found, made) if are_own_indexes_fine else found, made
    )


@cache
def _made(kind: str, version: int) -> frozenset[schema_check.Part]:
    scripts = (script.read_text(encoding="utf-8") for script in _scripts(kind)[:version])
    return schema_check.made_by(statement for script in scripts for statement in _statements(script))


def is_current(path: Path, kind: FileKind) -> bool:
    """Return True if the file needs no migration: it is writable, and its header has this program's schema number.
    A log or journal next to the file makes the result False.

    Reading the header takes a hundredth of the time of opening the file. This matters when a server starts with a
    thousand files. If this process has the file open, return False without reading the header. See the database
    file format, section 1.3: https://sqlite.org/fileformat.html#the_database_header
    """
    try:
        file_name = path.resolve()  # SQLite's other files are in the folder of the resolved path
        has_journal = file_name.with_name(f"{file_name.name}-journal").exists()
        if log_bytes(file_name) or has_journal or not path.is_file() or not os.access(path, os.W_OK):
            return False
    except OSError:
        return False
    return has_this_schema(path, kind)


def has_this_schema(path: Path, kind: FileKind) -> bool:
    """Return True if the file is complete according to its header, and has this program's schema number.

    A log next to the file is not read. Return False for a file that this process has open.
    """
    try:
        file_name = path.resolve()
        header, size = first_bytes(file_name, HEADER.size), file_name.stat().st_size
    except OSError:
        return False
    if header is None or len(header) < HEADER.size:
        return False
    magic, page_size, writes, reads, pages, version, application_id = HEADER.unpack(header)
    is_whole = size == pages * (65_536 if page_size == 1 else page_size)
    is_ours = (magic, writes, reads, application_id) == (MAGIC, WITH_LOG, WITH_LOG, kind.application_id)
    return is_whole and is_ours and version == len(kind.scripts())


def version_of(path: Path) -> int:
    """Return the number of a file's last migration. Raise sqlite3.Error if the file cannot be read."""
    with closing(connect(path, read_only=True)) as connection:
        return _version(connection)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check(path: Path, kind: FileKind, busy_seconds: float) -> int:
    """Check the file without writing, and return the number of its last migration.

    Raise StorageError in these cases:
    - The write-ahead log belongs to another file.
    - The file is of another kind, or has a foreign schema.
    - A newer wmsd has created the file.

    Raise sqlite3.Error if the file cannot be read.
    """
    check_log(path)
    with closing(connect(path, read_only=True, busy_seconds=busy_seconds)) as connection:
        _check_kind(connection, path, kind)
        return _version(connection)


def _check_kind(connection: sqlite3.Connection, path: Path, kind: FileKind) -> None:
    """Raise StorageError if the file is of another kind, has a foreign schema, or was created by a newer wmsd."""
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    version = _version(connection)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application_id != kind.application_id:
        raise StorageError(
            f"{path} is not a {kind.name} file of wmsd. It was not changed. Restore the file from a backup."
        )
    known = len(kind.scripts())
    if version > known:
        raise StorageError(
            f"{path} was written by a newer version of wmsd (schema {version}; this version knows "
            f"schemas up to {known}) and was not changed. Start the newer version."
        )
    if found := foreign_parts(connection, kind, are_own_indexes_fine=True):
        raise ForeignSchema(path, found)


def _statements(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    assert not pending.strip(), f"a migration ends in the middle of a statement: {pending!r}"
