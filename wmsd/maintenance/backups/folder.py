"""The folder of the backups: its archives, their names, and its lock."""

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from wmsd.base.machine.private_files import create_folders, give_to_owner_of
from wmsd.base.machine.regular_files import reason_of
from wmsd.db.engine.failures import StorageError

NAME: Final = re.compile(r"wmsd-(\d{4}-\d{2}-\d{2}T\d{6})Z\.tar\.gz", re.ASCII)
MOMENT: Final = "%Y-%m-%dT%H%M%S"
OF_COMPANY: Final = re.compile(r"company-[1-9][0-9]*-.+\.tar\.gz", re.ASCII)
"""A pattern for the name of a deleted company's archive."""
OF_COMPANIES: Final = "archive"
UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
AHEAD: Final = timedelta(days=1)
"""How far in the future the time in an archive's name may be. A time beyond this limit comes from a wrong clock.
"""
UNFINISHED: Final = ".unfinished-"
"""The prefix of files that are being written, and of scratch folders."""


class BackupFolder:
    def __init__(self, path: Path, within: Path | None = None) -> None:
        """Store the paths, but create no folder yet.

        Later, `locked` creates `path` and the missing folders above it. `within` limits this: the parent folder of
        `within` must already exist. By default, `within` is `path`, so only `path` itself may be missing. If
        `within` is a file in `path`, then `path` must exist.
        """
        self.path = path
        self._above = (within or path).absolute().parent

    def archives(self) -> list[Path]:
        """Return the archives whose names have the form that wmsd gives them, the oldest first.

        An archive with a time in the future comes first, so that it does not count as the newest one.
        """
        now = datetime.now(UTC)
        return sorted(self._named(NAME), key=lambda path: (not is_of_future(path, now), path))

    def companies(self) -> list[Path]:
        """Return the archives of deleted companies in this folder, in the order of their names."""
        return self._named(OF_COMPANY)

    def _named(self, pattern: "re.Pattern[str]") -> list[Path]:
        with contextlib.suppress(OSError):
            return sorted(each for each in self.path.iterdir() if pattern.fullmatch(each.name) and each.is_file())
        return []

    def of_companies(self) -> "BackupFolder":
        """Return the folder for the archives of deleted companies. It is inside this folder, so a copy of this
        folder includes these archives.
        """
        return BackupFolder(self.path / OF_COMPANIES, within=self.path)

    def new(self, name: str | None, moment: datetime) -> Path:
        """Return the path of a new archive with the name `name`. If `name` is None, the name contains the time
        `moment`. Raise StorageError if the file exists.
        """
        path = self.path / (name or f"wmsd-{moment.astimezone(UTC):{MOMENT}}Z.tar.gz")
        if path.exists():
            raise StorageError(f"{path} already exists, and was not changed. Name another file.")
        return path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder, so that no other backup can use it. Create the folder if it is missing. Remove the
        unfinished files of killed backups.

        Raise StorageError if another backup is running in this folder, or if the folder cannot be created or
        written.
        """
        try:
            if not self._above.exists():  # if its disk is not mounted, backups would fill the data disk
                solution = "If that folder is on a separate disk, mount the disk; otherwise create the folder."
                if self._above == self.path.absolute():
                    raise StorageError(f"There is no folder {self._above} for the backup. {solution}")
                raise StorageError(
                    f"The backup folder {self.path} cannot be created, because there is no folder "
                    f"{self._above}. {solution}"
                )
            create_folders(self.path, 0o700)
            # Open the lock for reading only, because a command of another user may have created the file.
            lock = os.open(self.path / ".lock", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            give_to_owner_of(self.path, self.path / ".lock")
        except OSError as error:
            raise StorageError(f"The backup folder {self.path} cannot be written: {reason_of(error)}.") from None
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StorageError(
                    f"Another backup is being created or verified in {self.path}. Wait until the other backup "
                    "is finished."
                ) from None
            for remains in self.path.glob(f"{UNFINISHED}*"):
                _remove(remains)
            yield
        finally:
            os.close(lock)

    def is_on_disk_of(self, other: Path) -> bool:
        """Return True if the folder is on the same file system as `other`. If so, one broken disk can destroy
        both.
        """
        path = self.path.absolute()
        while not os.access(path, os.F_OK):  # the folder may also be hidden from this user
            path = path.parent
        return path.stat().st_dev == other.stat().st_dev


def name_of_company(company_id: int, code: str, moment: str) -> str:
    """Return the name of the archive of a deleted company."""
    return f"company-{company_id}-{UNSAFE.sub('_', code)}-{moment}.tar.gz"


def is_of_future(archive: Path, now: datetime) -> bool:
    """Return True if the time in the archive's name is in the future. Such a time comes from a wrong clock."""
    moment = moment_of(archive)
    return moment is not None and moment > now + AHEAD


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def moment_of(archive: Path) -> datetime | None:
    """Return the time in the archive's name, at which the archive was created. Return None if the name has no
    time.
    """
    found = NAME.fullmatch(archive.name)
    return None if found is None else datetime.strptime(found[1], MOMENT).replace(tzinfo=UTC)
