"""Deletes a company for good, with an archive first. It is for the command line, as it takes as long as a copy.

Whatever cuts it off loses nothing: the company goes from the platform only when the archive is on the disk, and
nothing is written to its file from the moment on at which the archive is begun. Whoever deletes it again goes on
where it was cut off.
"""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.machine.private_files import new_private, new_private_folder
from wmsd.contract.context import Company
from wmsd.data_folder.file_swap import swap, sync, with_sides
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Loan
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.other_users import check_unused
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.file_states import FromFolder
from wmsd.maintenance.backups.folder import BackupFolder, name_of_company
from wmsd.maintenance.company_moves import deletion_store
from wmsd.maintenance.company_moves.export_import import Subject, export_company, subject_of
from wmsd.tenants.accounts import token_store

ASIDE: Final = "deleted"
ROWS: Final = "platform.json"
LONG_SECONDS: Final = 600.0


class Leaving(NamedTuple):
    """A company that is being deleted, and what is written of it."""

    subject: Subject
    rows: bytes


async def begin(installation: Installation, code: str) -> deletion_store.Begun:
    """Nobody is served the company from now on."""
    return await installation.platform.write(lambda tx: deletion_store.begin(tx, code))


def close(folder: DataFolder, loan: Loan | None, company: Company) -> None:
    """The server closes the file; without one, nobody else may have it. Raises StorageError."""
    if loan is None:
        check_unused(folder.companies / f"{company.id}.db")
    else:
        loan.ask("end_company", company.id, LONG_SECONDS)


def close_as_it_is(folder: DataFolder, loan: Loan | None, company: Company) -> None:
    """The same for a file that may be damaged or missing. Raises StorageError when somebody has it."""
    path = folder.companies / f"{company.id}.db"
    if loan is not None:
        close(folder, loan, company)
    elif path.exists() and path.stat().st_size > 0:  # looking would make a database of an empty file
        try:
            check_unused(path)
        except StorageError:
            raise
        except STORAGE_FAILURES:
            pass  # it cannot be read; whoever had it open could not either


async def leaving(installation: Installation, company: Company, has_passphrase: bool) -> Leaving:
    subject = await subject_of(installation, company, has_passphrase)
    return Leaving(subject, await rows_of(installation, company))


async def rows_of(installation: Installation, company: Company) -> bytes:
    """What the platform knows of it."""
    rows = await installation.platform.read(lambda tx: deletion_store.platform_rows(tx, company))
    return json.dumps(rows, ensure_ascii=False, indent=1).encode()


def left_aside(data: DataFolder, company: Company) -> list[Path]:
    """The files of the company that deletions without an archive moved before they were cut off."""
    return sorted(data.path.glob(f"{ASIDE}-{company.id}-*/{company.id}.db"))


class Aside:
    """The folder in the data folder to which the file of a company goes that is deleted without an archive."""

    def __init__(self, data: DataFolder, company: Company) -> None:
        self._data = data.path
        self._file = f"{data.companies.name}/{company.id}.db"
        self.name = f"{ASIDE}-{company.id}-{timestamps.for_file_name(datetime.now(UTC))}"

    @property
    def path(self) -> Path:
        return self._data / self.name

    def put(self, rows: bytes) -> None:
        """Moves the file as it is, with what stands beside it. Raises StorageError and OSError."""
        new_private_folder(self.path)
        with new_private(self.path / ROWS) as file:
            file.write(rows)
            file.flush()
            os.fsync(file.fileno())
        sync(self.path)
        swap(self._data, with_sides(self._data, self._file, f"{self.name}/{Path(self._file).name}"))

    def put_back(self) -> None:
        """Only what was moved; the rest of the folder stays."""
        swap(self._data, with_sides(self._data, f"{self.name}/{Path(self._file).name}", self._file))


def archive(data: DataFolder, to: BackupFolder, leaving: Leaving, passphrase: str | None) -> Path:
    """Writes the archive, of which `wmsd company import` makes a company. Returns its absolute path. Raises
    StorageError and OSError.
    """
    owner = leaving.subject.owner
    moment = timestamps.for_file_name(datetime.now(UTC))
    path = to.path / name_of_company(owner.company_id, owner.code, moment)
    export_company(
        data, FromFolder(data), leaving.subject, path, passphrase, {ROWS: leaving.rows}, is_deleted=True
    )
    return path.absolute()


class Left(NamedTuple):
    """What went with a company: users no longer have it, and tokens that were for nothing else are revoked."""

    users: list[str]
    tokens_revoked: int


async def end(
    installation: Installation, company: Company, archive: Path | None, aside: Path | None = None
) -> Left:
    """Removes the company from the platform, in one transaction. `aside`: where its file is, when there is no
    archive.
    """

    def write(tx: Transaction) -> Left:
        revoked = token_store.leave_company(tx, company.id)
        written, moved = (None if path is None else str(path) for path in (archive, aside))
        return Left(deletion_store.end(tx, company, written, moved, revoked), revoked)

    return await installation.platform.write(write)


async def give_up(installation: Installation, company: Company) -> bool:
    return await installation.platform.write(lambda tx: deletion_store.give_up(tx, company))


async def leftover(installation: Installation) -> list[int]:
    """The companies that are gone from the platform, and whose files are still there."""
    gone = await installation.platform.read(deletion_store.ended)
    return [each for each in gone if (installation.folder.companies / f"{each}.db").exists()]


def remove_files(folder: DataFolder, company_id: int) -> None:
    """All that was the company's alone."""
    path = folder.companies / f"{company_id}.db"
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    for place in (folder.requests, folder.path / "imports"):
        shutil.rmtree(place / str(company_id), ignore_errors=True)
