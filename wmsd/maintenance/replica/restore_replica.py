"""The restore of a replica into an empty data folder, on a spare machine, after the first machine was lost.

The changes of the last one or two seconds may be missing, and their number is unknown. Therefore a new epoch
begins in each company's history. Every number series skips ahead, so that no number is used twice.
"""

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.machine.private_files import give_to_owner_of, new_private_folder
from wmsd.base.machine.scratch_folders import in_use
from wmsd.data_folder.continue_numbers import leap_ids
from wmsd.data_folder.file_swap import Rename, swap
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.litestream import restore_from_replica
from wmsd.data_folder.litestream_configuration import COMPANIES, url_of
from wmsd.data_folder.new_epoch import begin_epoch
from wmsd.data_folder.numbers import NOTHING_KNOWN
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner, check_owner
from wmsd.db.engine.high_water_mark import HighWaterMark, read_mark
from wmsd.db.engine.snapshots import read_state
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.migrations import COMPANY, PLATFORM, check_schema
from wmsd.tenants.companies import store as companies
from wmsd.tenants.recovery.restore_note import note_replica

SCRATCH: Final = ".replica"
AT_ONCE: Final = 4


class Taken(NamedTuple):
    """A company that was restored from the replica."""

    code: str
    last_change: str
    last_event: int
    known_missing: int
    """How many lost events of the company are known. Lost events of the last minute are not known, so they are not
    counted.
    """


class TakenOver(NamedTuple):
    taken: list[Taken]
    failed: dict[str, str]
    """The reason why a company could not be restored, by the company's code."""
    seconds: float
    access_unknown_after: str
    """The time of the last known change. Later changes are missing, so it is not known which access was revoked
    after that time.
    """


Tell = Callable[[str, int, int], None]
"""A function that reports progress. Its arguments are the code of a company, the number of finished companies, and
the number of all companies.
"""


class Replica:
    def __init__(self, program: Path, address: str, data: DataFolder) -> None:
        """Prepare the restore. `program` is the path of the Litestream program."""
        self._program = program
        self._url = url_of(address)
        self._data = data
        self._scratch = data.path / SCRATCH

    def take_over(self, tell: Tell) -> TakenOver:
        """Restore everything into the data folder, which must be empty and unused. Leave out a company that cannot
        be restored.

        Raise StorageError or OSError if the installation cannot be restored. After this error, the folder is
        unchanged.
        """
        began = time.monotonic()
        if self._data.is_made or any(self._data.companies.glob("*.db")):
            raise StorageError(
                f"{self._data.path} already contains data. Nothing was changed. Restore the replica into an "
                "empty folder (--data)."
            )
        shutil.rmtree(self._scratch, ignore_errors=True)
        for folder in (self._scratch, self._scratch / COMPANIES):
            new_private_folder(folder)
        used = ExitStack()
        try:
            used.enter_context(in_use(self._scratch))
            platform = self._data.platform_file.name
            restore_from_replica(self._program, f"{self._url}/{platform}", self._scratch / platform)
            check_schema(self._scratch / platform, PLATFORM)
            owners, marks = self._known(self._scratch / platform)
            found: dict[str, Taken | str] = {}
            with ThreadPoolExecutor(AT_ONCE) as threads:
                all_taken = threads.map(lambda owner: self._company(owner, marks.get(owner.company_id)), owners)
                for owner, each in zip(owners, all_taken, strict=True):
                    found[owner.code] = each
                    tell(owner.code, len(found), len(owners))
            unknown_after = note_replica(self._scratch / platform)
            files = sorted(self._scratch.rglob("*.db"), reverse=True)  # platform.db last: it marks a data folder
            for file in files:
                give_to_owner_of(self._data.path, file)
            names = [str(file.relative_to(self._scratch)) for file in files]
            swap(self._data.path, [Rename(f"{SCRATCH}/{name}", name) for name in sorted(names)])
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)
            used.close()
        return TakenOver(
            [each for each in found.values() if isinstance(each, Taken)],
            {code: each for code, each in found.items() if isinstance(each, str)},
            time.monotonic() - began,
            unknown_after,
        )

    def _known(self, platform: Path) -> tuple[list[Owner], dict[int, HighWaterMark]]:
        """Skip ids in the restored platform.db, so that no id is used twice. Return the owners of all companies'
        files, and the high-water marks by company id.

        The marks are at most a minute older than the replica.
        """
        try:
            leap_ids(platform)
            installation, codes, marks = read_state(
                platform, lambda tx: (companies.installation(tx), companies.codes(tx), companies.marks(tx))
            )
        except sqlite3.Error as error:
            raise StorageError(f"The platform.db of the replica cannot be used: {error}.") from error
        return [Owner(installation, company_id, code) for company_id, code in codes.items()], marks

    def _company(self, owner: Owner, mark: HighWaterMark | None) -> Taken | str:
        """Restore one company. Return the company, or the reason why it could not be restored."""
        name = f"{COMPANIES}/{owner.company_id}.db"
        target = self._scratch / name
        try:
            restore_from_replica(self._program, f"{self._url}/{name}", target)
            check_schema(target, COMPANY)
            with closing(connect(target)) as connection:
                check_owner(connection, target, owner)
                last_change, last_event = read_mark(connection)
            begin_epoch(target, "replica", NOTHING_KNOWN)
        except (StorageError, sqlite3.Error) as error:
            for remains in target.parent.glob(f"{target.name}*"):
                remains.unlink()
            return " ".join(str(error).split())
        known_missing = 0 if mark is None else max(0, mark.last_event - last_event)
        return Taken(owner.code, timestamps.from_microseconds(last_change), last_event, known_missing)
