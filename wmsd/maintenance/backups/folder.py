"""The folder of the backups: which there are, and which are kept."""

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
"""How archives of deleted companies are named, and where they are in the folder of the backups."""
OF_COMPANIES: Final = "archive"
UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
AHEAD: Final = timedelta(days=1)
"""A moment that is further in the future was read from a clock that was wrong."""
UNFINISHED: Final = ".unfinished-"
"""How the names of files begin that are being written, and of scratch folders."""


class BackupFolder:
    def __init__(self, path: Path, within: Path | None = None) -> None:
        """`within`: the folder of the settings, where this is one in it, which is made with it; or the file that
        is to be made, whose folder must be there.
        """
        self.path = path
        self._above = (within or path).absolute().parent

    def archives(self) -> list[Path]:
        """The archives that wmsd named, the oldest first. One of the future is not the newest: it comes before."""
        now = datetime.now(UTC)
        return sorted(self._named(NAME), key=lambda path: (not is_of_future(path, now), path))

    def companies(self) -> list[Path]:
        """The archives of deleted companies in it, by their ids."""
        return self._named(OF_COMPANY)

    def _named(self, pattern: "re.Pattern[str]") -> list[Path]:
        with contextlib.suppress(OSError):
            return sorted(each for each in self.path.iterdir() if pattern.fullmatch(each.name) and each.is_file())
        return []

    def of_companies(self) -> "BackupFolder":
        """For the archives of deleted companies: there is room, and whoever copies the backups elsewhere copies
        these.
        """
        return BackupFolder(self.path / OF_COMPANIES, within=self.path)

    def new(self, name: str | None, moment: datetime) -> Path:
        """The path of a new archive; without a name, it is named by the moment. Raises StorageError when there is
        one already.
        """
        path = self.path / (name or f"wmsd-{moment.astimezone(UTC):{MOMENT}}Z.tar.gz")
        if path.exists():
            raise StorageError(f"{path} is there already; it was left as it is. Name another file.")
        return path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Makes the folder where there is none, and keeps other backups out of it while it lasts. What one that
        was killed has left is removed. Raises StorageError.
        """
        try:
            if not self._above.exists():  # a disk that is not mounted: backups would come to the disk of the data
                mended = "If that is on a disk of its own, mount it; otherwise make that folder."
                if self._above == self.path.absolute():
                    raise StorageError(f"There is no folder {self._above} for the backup. {mended}")
                raise StorageError(
                    f"The backup folder {self.path} cannot be made, for there is no folder {self._above}. {mended}"
                )
            create_folders(self.path, 0o700)
            # Only to read: a command of another user may have made it.
            lock = os.open(self.path / ".lock", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            give_to_owner_of(self.path, self.path / ".lock")
        except OSError as error:
            raise StorageError(f"The backup folder {self.path} cannot be written: {reason_of(error)}.") from None
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StorageError(
                    f"Another backup is being made or proven in {self.path}. Wait for its end."
                ) from None
            for remains in self.path.glob(f"{UNFINISHED}*"):
                _remove(remains)
            yield
        finally:
            os.close(lock)

    def is_on_disk_of(self, other: Path) -> bool:
        """Whether the folder is on the same file system as `other`: one broken disk then takes both."""
        path = self.path.absolute()
        while not os.access(path, os.F_OK):  # it may also be hidden from this user
            path = path.parent
        return path.stat().st_dev == other.stat().st_dev


def name_of_company(company_id: int, code: str, moment: str) -> str:
    """Of the archive of a deleted company."""
    return f"company-{company_id}-{UNSAFE.sub('_', code)}-{moment}.tar.gz"


def is_of_future(archive: Path, now: datetime) -> bool:
    """Whether a clock that was ahead has named it."""
    moment = moment_of(archive)
    return moment is not None and moment > now + AHEAD


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def moment_of(archive: Path) -> datetime | None:
    """When the archive was made, by its name."""
    found = NAME.fullmatch(archive.name)
    return None if found is None else datetime.strptime(found[1], MOMENT).replace(tzinfo=UTC)
