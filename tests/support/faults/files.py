"""Faults in which a user removes, replaces, locks or truncates the files of a company."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.borrowing import borrowed
from tests.support.faults.fault import NOBODY, Fault, Running
from tests.support.faults.scene import NEAR
from tests.support.held_file import held


@contextmanager
def moved_away(running: Running) -> Iterator[None]:
    elsewhere = running.file.with_name("elsewhere")
    running.file.rename(elsewhere)
    try:
        yield
    finally:
        elsewhere.rename(running.file)


@contextmanager
def _kept_put_back(file: Path) -> Iterator[None]:
    try:
        yield
    finally:
        (kept,) = file.parent.glob("1.db.removed-*")
        kept.rename(file)


@contextmanager
def removed(running: Running) -> Iterator[None]:
    """Remove the file of a company, and put back the file that the server retained."""
    running.file.unlink()
    with _kept_put_back(running.file):
        yield


@contextmanager
def replaced(running: Running) -> Iterator[None]:
    """Replace the file of a company by a copy of another company's file, and put back the file that the server
    retained.
    """
    other = running.scene.file(NEAR)
    new = running.file.with_name("new")
    shutil.copy(other, new)
    new.replace(running.file)
    with _kept_put_back(running.file):
        yield


@contextmanager
def log_removed(running: Running) -> Iterator[None]:
    running.file.with_name(f"{running.file.name}-wal").unlink()
    yield


@contextmanager
def index_cut(running: Running) -> Iterator[None]:
    """Truncate the index file.

    This happens when a user copies the three files of a backup over files that are in use.
    """
    index = running.file.with_name(f"{running.file.name}-shm")
    index.write_bytes(b"")
    try:
        yield
    finally:
        index.unlink(missing_ok=True)


@contextmanager
def locked(running: Running) -> Iterator[None]:
    with held(running.file):
        yield


@contextmanager
def pipe_in_place(running: Running) -> Iterator[None]:
    elsewhere = running.file.with_name("elsewhere")
    running.file.rename(elsewhere)
    os.mkfifo(running.file)
    try:
        yield
    finally:
        elsewhere.rename(running.file)


@contextmanager
def writer_at_work(running: Running) -> Iterator[None]:
    """Write for a long time in a file that a command has borrowed."""
    with borrowed(running.scene.home.data, f"companies/{running.file.name}") as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


STANDS_NOWHERE: Final = "company 1 is unavailable: .* was removed or replaced while it was in use"
TOUCHED: Final = (
    Fault("a company's file is moved away and back", moved_away, told=STANDS_NOWHERE),
    Fault("a company's file is removed, and the copy that wmsd kept is put back", removed, told=STANDS_NOWHERE),
    Fault("a company's file is replaced, and the copy that wmsd kept is put back", replaced, told=STANDS_NOWHERE),
    Fault("a company's log is removed", log_removed, told="1.db-wal was removed"),
    Fault("the index of a company's log is truncated", index_cut, NOBODY),
    Fault("another program has a company's file locked", locked, told="has locked the file", is_from_start=True),
    Fault("a pipe replaces a company's file", pipe_in_place, told="it is not a file", is_from_start=True),
    Fault("a command writes to a company's file for a long time", writer_at_work),
)
