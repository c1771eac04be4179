"""The permanent deletion of a company. By default, the company's file is first written to an archive. This takes
as long as a copy of the file, so only the command line can delete a company.

An interrupted deletion loses nothing. Before the platform removes the company, the archive must be on the disk, or
the file must be in another folder. From the first step on, nothing is written to the file. A repeated deletion
continues where the interrupted one stopped.
"""

import json
import shutil
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol, TypeVar

from wmsd.base import timestamps
from wmsd.base.machine.private_files import new_private_folder, write_private
from wmsd.contract.context import Company
from wmsd.data_folder.file_swap import Rename, swap, sync, with_sides
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Loan
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError, is_damage
from wmsd.db.files.other_users import check_unused
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.file_snapshots import FromFolder
from wmsd.maintenance.backups.folder import BackupFolder, name_of_company
from wmsd.maintenance.company_moves import deletion_store
from wmsd.maintenance.company_moves.deletion_store import Begun, Left
from wmsd.maintenance.company_moves.export_import import Subject, export_company, subject_of
from wmsd.tenants.companies import store as companies

ASIDE: Final = "deleted"
ROWS: Final = "platform.json"
LONG_SECONDS: Final = 600.0
WITHOUT: Final = (
    "Restore the file from a backup, or delete the company with --without-archive, which first says what is lost."
)
Result = TypeVar("Result")


class OnPlatform(Protocol):
    """A function that opens the installation, calls `work` with it, and returns the result of `work`.

    If a server is running, the server lends only platform.db, because the server has already closed the company's
    file.
    """

    def __call__(self, work: Callable[[Installation], Awaitable[Result]], /) -> Result: ...


class Deletion:
    """The deletion of one company. If a step fails before the platform has removed the company, the company is
    served again.
    """

    def __init__(self, data: DataFolder, loan: Loan | None, on_platform: OnPlatform, begun: Begun) -> None:
        self._data = data
        self._loan = loan
        self._on_platform = on_platform
        self._company = begun.company
        self.is_resumed = begun.is_resumed
        self._file = data.companies / f"{begun.company.id}.db"

    def with_archive(self, to: BackupFolder, passphrase: str | None) -> tuple[Path, Left]:
        """Delete the company after writing an archive. Return the absolute path of the archive, and who lost
        access.

        Raise StorageError, sqlite3.Error or OSError if that fails.
        """
        try:
            self.close()
            leaving = self._on_platform(lambda at: self.leaving(at, passphrase is not None))
            archive = self.archive(to, *leaving, passphrase)
            left = self.end(archive, None)
        except BaseException as error:
            self._give_up()
            if not self._file.exists():
                raise StorageError(f"{self._file} is missing. {WITHOUT}") from error
            if isinstance(error, Exception) and is_damage(error):
                raise StorageError(f"{self._file} is damaged ({error}). {WITHOUT}") from error
            raise
        remove_files(self._data, self._company.id)
        return archive, left

    def without_archive(self) -> tuple[Path, Left]:
        """Delete the company and move its file, as it is, to a new folder. Return the folder, and who lost access.

        Raise StorageError, sqlite3.Error or OSError if that fails.
        """
        aside = f"{ASIDE}-{self._company.id}-{timestamps.for_file_name(datetime.now(UTC))}"
        folder, file = self._data.path / aside, str(self._file.relative_to(self._data.path))
        moved = f"{aside}/{self._file.name}"
        try:
            self.close_as_it_is()
            self.put_aside(folder, self._on_platform(self.rows), with_sides(self._data.path, file, moved))
            left = self.end(None, folder)
        except BaseException:
            if self._give_up():
                swap(self._data.path, with_sides(self._data.path, moved, file))  # the folder's other files stay
            raise
        remove_files(self._data, self._company.id)
        return folder, left

    def close(self) -> None:
        """Ask the running server to close the file. Without a server, check that no process uses the file.

        Raise StorageError if another process uses the file, or if the server does not close it.
        """
        if self._loan is None:
            check_unused(self._file)
        else:
            self._loan.ask("end_company", self._company.id, LONG_SECONDS)

    def close_as_it_is(self) -> None:
        """Close the company's file, which may be damaged or missing. Raise StorageError if another process uses
        the file.
        """
        is_empty = not self._file.exists() or self._file.stat().st_size == 0
        if self._loan is None and is_empty:  # opening an empty file would turn it into a database
            return
        try:
            self.close()
        except StorageError:
            raise
        except STORAGE_FAILURES:
            pass  # no other process can have opened a file that cannot be read

    async def leaving(self, installation: Installation, has_passphrase: bool) -> tuple[Subject, bytes]:
        subject = await subject_of(installation, self._company, has_passphrase)
        return subject, await self.rows(installation)

    async def rows(self, installation: Installation) -> bytes:
        """Return the platform's records about the company, as JSON."""
        rows = await installation.platform.read(lambda tx: deletion_store.platform_rows(tx, self._company))
        return json.dumps(rows, ensure_ascii=False, indent=1).encode()

    def archive(self, to: BackupFolder, subject: Subject, rows: bytes, passphrase: str | None) -> Path:
        """Write the archive, and return its path. `wmsd company import` can recreate the company from this
        archive. Raise StorageError or OSError if that fails.
        """
        moment = timestamps.for_file_name(datetime.now(UTC))
        path = to.path / name_of_company(self._company.id, self._company.code, moment)
        source = FromFolder(self._data)
        export_company(self._data, source, subject, path, passphrase, {ROWS: rows}, is_deleted=True)
        return path.absolute()

    def put_aside(self, folder: Path, rows: bytes, renames: list[Rename]) -> None:
        """Create `folder`, write `rows` to a file in it, and move the company's files as `renames` says.

        Raise StorageError or OSError if that fails.
        """
        new_private_folder(folder)
        write_private(folder / ROWS, rows)
        sync(folder)
        swap(self._data.path, renames)

    def end(self, archive: Path | None, folder: Path | None) -> Left:
        """Remove the company from the platform, in one transaction. Return who lost access.

        `archive` is the archive of the company, or None. Without an archive, `folder` is the folder to which the
        company's files were moved.
        """
        return self._on_platform(
            lambda at: at.platform.write(lambda tx: deletion_store.end(tx, self._company, archive, folder))
        )

    def _give_up(self) -> bool:
        return self._on_platform(
            lambda at: at.platform.write(lambda tx: deletion_store.give_up(tx, self._company))
        )


def left_aside(data: DataFolder, company: Company) -> list[Path]:
    """Return the company's files in the folders `deleted-…`. They were moved there by deletions without an archive
    that were interrupted.
    """
    return sorted(data.path.glob(f"{ASIDE}-{company.id}-*/{company.id}.db"))


async def left_over(installation: Installation, code: str) -> tuple[list[int], bool]:
    """Return two values about interrupted deletions.

    The first value has the ids of deleted companies that still have a file. The second value is True if there is
    such a file and `code` is the code of a deleted company only, not of an existing one.
    """
    ended, codes = await installation.platform.read(
        lambda tx: (deletion_store.ended(tx), companies.codes(tx).values())
    )
    gone = [each for each in ended if (installation.folder.companies / f"{each}.db").exists()]
    return gone, bool(gone) and code in ended.values() and code not in codes


def remove_files(folder: DataFolder, company_id: int) -> None:
    """Remove all files of the company, including its stored requests and its imports."""
    path = folder.companies / f"{company_id}.db"
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    for place in (folder.requests, folder.path / "imports"):
        shutil.rmtree(place / str(company_id), ignore_errors=True)
