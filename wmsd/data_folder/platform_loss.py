"""The command to restore platform.db, and the advice to users, if platform.db is missing or damaged."""

from pathlib import Path
from typing import Final, Protocol

from wmsd.db.engine.failures import is_damage
from wmsd.db.files.read_only_copy import content_of
from wmsd.db.migrations import PLATFORM

UNKNOWN: Final = "FILE"
"""The placeholder for the archive in the restore command. It is used if no backup contains platform.db."""


class Backups(Protocol):
    """The backups of a data folder. The implementation is passed in by the process that opens the folder."""

    @property
    def folder(self) -> Path: ...

    def newest(self, data: Path) -> str:
        """Return the path of the newest backup with platform.db, quoted for a shell.

        Return UNKNOWN if there is none.
        """


def restoring_platform(data: Path, backups: Backups | None) -> str:
    """Return the command line that restores platform.db. If there are files of companies, the command leaves them
    unchanged.

    If `backups` is None, the command line contains a placeholder for the archive.
    """
    only = " --only-platform" if _has_companies(data) else ""
    return f"wmsd backup restore {_newest(data, backups)}{only}"


def next_steps(data: Path, backups: Backups | None) -> str:
    """Return the sentences for the user that say how to restore a missing or damaged platform.db."""
    command = restoring_platform(data, backups)
    if not _has_companies(data):
        return f"Restore a backup: {command}"
    way = f"Restore only platform.db; the companies' files stay unchanged: {command}"
    if backups is None or _newest(data, backups) != UNKNOWN:
        return way
    return (
        f"There is no backup of this installation in {backups.folder.absolute()}. Look for a backup "
        f"elsewhere, and keep the companies' files: they contain all records. {way}"
    )


def _newest(data: Path, backups: Backups | None) -> str:
    return UNKNOWN if backups is None else backups.newest(data)


def _has_companies(data: Path) -> bool:
    return any((data / "companies").glob("*.db"))


def is_lost(platform: Path, error: Exception) -> bool:
    """Return True if opening platform.db failed because the file is damaged, empty or from another program."""
    cause = error.__cause__
    is_damaged = isinstance(cause, Exception) and is_damage(cause)
    return is_damaged or content_of(platform, PLATFORM) in ("empty", "foreign")
