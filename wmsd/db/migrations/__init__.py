"""Migrations. Each kind of file has a folder of scripts `NNNN_what.sql`, run in the order of their numbers, each
in its own transaction. `PRAGMA user_version` is the number of the last one; `application_id` is the kind of file.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wmsd.db.failures import StorageError, is_delay, is_of_disk
from wmsd.db.sqlite import BUSY_SECONDS, connect, sqlite3

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class FileKind:
    name: str
    application_id: int

    def scripts(self) -> list[Path]:
        return sorted((FOLDER / self.name).glob("[0-9]*.sql"))


PLATFORM: Final = FileKind("platform", 0x776D7370)
COMPANY: Final = FileKind("company", 0x776D7363)


def create(path: Path, kind: FileKind) -> None:
    """Creates a new file of this kind. Raises StorageError; never touches an existing file."""
    if path.exists():
        raise StorageError(f"{path} is there already; it was left as it is.")
    unfinished = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for remains in path.parent.glob(f"{unfinished.name}*"):
            remains.unlink()
        _run(unfinished, kind, create_file=True)
        _put_in_place(unfinished, path)
    except (sqlite3.Error, OSError) as error:
        raise StorageError(f"{path} cannot be created: {error}.") from error


def _put_in_place(unfinished: Path, path: Path) -> None:
    """Renames a finished file to its name, so that after a power failure there is the whole file or none."""
    unfinished.chmod(0o600)  # platform.db holds the keys that sign tokens
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def migrate(path: Path, kind: FileKind, busy_seconds: float = BUSY_SECONDS) -> None:
    """Brings a file up to this program's schema. Raises StorageError when that fails, with the file unchanged.

    If another program has the file locked, it waits for `busy_seconds`.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise StorageError(f"{path} is missing. Restore it from a backup; wmsd does not make it anew.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be used: {(error.strerror or str(error)).lower()}.") from None
    if not stat.S_ISREG(mode):  # opening a pipe would wait for its other end
        raise StorageError(
            f"{path} cannot be used: it is no file. It was left as it is; restore the file from a backup."
        )
    try:
        _run(path, kind, create_file=False, busy_seconds=busy_seconds)
    except sqlite3.DatabaseError as error:
        remedy = "Restore it from a backup."
        if not os.access(path, os.W_OK):
            remedy = "Give this user the permission to write it."
        elif is_delay(error):
            remedy = "Another program has it locked: wmsd looks again as soon as it is asked for."
        elif is_of_disk(error):
            remedy = "Look whether the disk is full, failing or read-only."
        raise StorageError(f"{path} cannot be used: {error}. Nothing was changed. {remedy}") from error


def _run(path: Path, kind: FileKind, create_file: bool, busy_seconds: float = BUSY_SECONDS) -> None:
    if not create_file:
        _check(path, kind, busy_seconds)
    connection = connect(path, create=create_file, busy_seconds=busy_seconds)
    try:
        for script in kind.scripts()[_version(connection) :]:
            number = int(script.name[:4])
            connection.execute("BEGIN EXCLUSIVE")
            if _version(connection) < number:  # another process may have come first
                connection.execute(f"PRAGMA application_id = {kind.application_id}")
                for statement in _statements(script.read_text(encoding="utf-8")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
    finally:
        connection.close()


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _check(path: Path, kind: FileKind, busy_seconds: float) -> None:
    """Checks the file without writing: is it ours, can it be read, and is it no newer than this program?"""
    connection = connect(path, read_only=True, busy_seconds=busy_seconds)
    try:
        application_id = connection.execute("PRAGMA application_id").fetchone()[0]
        version = _version(connection)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    finally:
        connection.close()
    if application_id != kind.application_id:
        raise StorageError(
            f"{path} is not a {kind.name} file of wmsd. It was left as it is; restore it from a backup."
        )
    known = len(kind.scripts())
    if version > known:
        raise StorageError(
            f"{path} was made by a newer wmsd (schema {version}; this program knows up to {known}). "
            "It was left as it is; start the newer program."
        )


def _statements(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    assert not pending.strip(), f"a migration ends in the middle of a statement: {pending!r}"
