"""What can be wrong with a database file, in the words of the person who has to mend it."""

from wmsd.base.problems import Problem, unavailable
from wmsd.db.sqlite import sqlite3

DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
BROKEN_OFF = ("SQLITE_INTERRUPT",)
TOO_BIG = ("SQLITE_TOOBIG",)
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


class StorageError(Exception):
    """The data folder or one of its files cannot be used; the sentence says why and what to do."""


class OutOfTime(Exception):
    """A read took longer than it may, with its wait, and was broken off."""


def explain(error: sqlite3.Error) -> Problem | None:
    """The 503 that stands for a failure of the file or the disk; None for a mistake in the program."""
    name = _name(error)
    if name.startswith(DISK):
        return unavailable("The server cannot use its disk now; nothing was changed.", 30)
    if name.startswith(BUSY):
        return unavailable("Another program is writing to this company's data; nothing was changed.")
    if name.startswith(DAMAGED):
        return unavailable("This company's data cannot be read now.", 60)
    if name.startswith(TOO_BIG):
        return Problem("VALIDATION_FAILED", "The answer would be too large; ask for less.", status=413)
    return None


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is to blame, and not the disk's space or another writer."""
    return _name(error).startswith(DAMAGED)


def is_of_disk(error: sqlite3.Error) -> bool:
    """Whether the disk is to blame: full, failing, read-only or gone."""
    return _name(error).startswith(DISK)


def is_delay(error: sqlite3.Error) -> bool:
    """Whether the same might succeed with more time: another connection is in the way, or it was broken off."""
    return _name(error).startswith(BUSY + BROKEN_OFF)


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""
