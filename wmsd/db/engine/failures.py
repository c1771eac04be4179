"""Failures of a database file, described for the person who has to repair it."""

from pathlib import Path

from wmsd.base.problems import Problem, unavailable
from wmsd.db.engine.sqlite import sqlite3

DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
BROKEN_OFF = ("SQLITE_INTERRUPT",)
TOO_BIG = ("SQLITE_TOOBIG",)
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
IN_DOUBT = ("SQLITE_IOERR",)


class StorageError(Exception):
    """The data folder or one of its files cannot be used. The message says why, and what to do."""


class FileMoved(StorageError):
    """A file that is in use was removed or replaced."""

    happened = "was removed or replaced"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} {self.happened} while it was in use")
        self.path = path


class FileOverwritten(FileMoved):
    """Another program has written into a file that is in use."""

    happened = "was written by another program"


class OutcomeUnknown(Exception):
    """A commit failed and could not be undone. After a restart the change may be in the file or not."""


class OutOfTime(Exception):
    """A read, including its wait, took longer than allowed, and was interrupted."""


STORAGE_FAILURES = (sqlite3.Error, FileMoved, OutcomeUnknown)
CANNOT_BE_READ = (
    "This company's data cannot be read now. Try again in a minute. If the problem remains, ask the "
    "platform admin to run wmsd doctor, which shows the reason and how to restore the company."
)
MAY_HAVE_HAPPENED = (
    "the change may or may not be stored. Check whether it is stored, or repeat the request with the same "
    "Idempotency-Key."
)


def problem_of_failure(error: Exception) -> Problem | None:
    """Return the problem to send as the answer, usually with the status 503, if `error` is a failure of the file
    or the disk. Return None for any other error.
    """
    if isinstance(error, OutcomeUnknown):
        short = isinstance(error.__cause__, MemoryError)
        why = "The server ran short of memory" if short else "The disk failed"
        return Problem("OUTCOME_UNKNOWN", f"{why} while wmsd was writing: {MAY_HAVE_HAPPENED}")
    if isinstance(error, FileMoved):
        return unavailable(CANNOT_BE_READ, 60)
    name = _name(error)
    if name.startswith(DISK):
        return unavailable("The server cannot use its disk now; nothing was changed. Tell the platform admin.", 30)
    if name.startswith(BUSY):
        return unavailable(
            "Another program is writing to this company's data; nothing was changed. Try again in a few seconds."
        )
    if name.startswith(DAMAGED):
        return unavailable(CANNOT_BE_READ, 60)
    if name.startswith(TOO_BIG):
        return Problem("VALIDATION_FAILED", "The answer would be too large. Request less data.", status=413)
    return None


def is_damage(error: Exception) -> bool:
    """Return True if the content of the file is damaged. Return False if the error has another cause, such as a
    full disk or a locked file.
    """
    return _name(error).startswith(DAMAGED)


def is_of_disk(error: sqlite3.Error) -> bool:
    """Return True if the cause of the error is the disk: it is full, failing, read-only or missing."""
    return _name(error).startswith(DISK)


def is_in_doubt(error: BaseException) -> bool:
    """Return True if the changes of a failed commit may still be in the write-ahead log. This happens if SQLite
    wrote the changes to the log but could not sync the log.

    The result is True for other I/O errors too, because the driver does not distinguish a failed sync from them.
    """
    return _name(error).startswith(IN_DOUBT)


def is_delay(error: BaseException | None) -> bool:
    """Return True if a retry may succeed, because another connection had locked the file or the statement was
    interrupted.
    """
    return _name(error).startswith(BUSY + BROKEN_OFF)


def is_broken_off(error: sqlite3.Error) -> bool:
    """Return True if the statement was interrupted on purpose."""
    return _name(error).startswith(BROKEN_OFF)


def _name(error: BaseException | None) -> str:
    return getattr(error, "sqlite_errorname", "") or ""
