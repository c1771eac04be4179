"""The restore of only platform.db, when the companies' files are undamaged and stay as they are.

Companies created after the backup are adopted from their own files, which name their owner. New ids in platform.db
are greater than all ids that the lost file may have used. The companies' files do not change, and their history
continues without a new epoch.
"""

from pathlib import Path
from typing import NamedTuple

from wmsd.base import timestamps
from wmsd.contract.context import Actor
from wmsd.data_folder.continue_numbers import RevokedAccess, keep_revoked
from wmsd.data_folder.file_swap import swap
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.data_folder.platform_facts import damage_of, read_platform
from wmsd.db import migrations
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.manifest import BackedUpFile
from wmsd.maintenance.backups.restore import Restore
from wmsd.maintenance.company_moves import deletion_store
from wmsd.maintenance.platform_restore.adopt_companies import Lost, Settled, Settling
from wmsd.maintenance.platform_restore.company_traces import owner_in
from wmsd.tenants.companies import store as companies


class PlatformRestored(NamedTuple):
    replaced: Path | None
    """The folder with the previous files, or None if there were no files."""
    settled: Settled
    shut_out: RevokedAccess
    """Access that was revoked after the backup, such as tokens. The restored data did not know this, so the
    restore has revoked the access again.
    """
    keys: str
    """How the installation got its keys: a key of `KEYS_FROM` (see `Restored`)."""


class PlatformRestore(Restore):
    """The restore of only the platform.db in a backup, while the companies' files stay as they are."""

    def check_platform(self) -> BackedUpFile:
        """Return the manifest's entry for platform.db. Raise StorageError if platform.db cannot be restored from
        this backup.
        """
        if self.manifest.company is not None:
            raise StorageError(
                f"{self.archive} is the archive of one company, and has no {PLATFORM_FILE}. Name a backup of "
                "the whole installation."
            )
        known, file = self._known, self.manifest.file(PLATFORM_FILE)
        if file is None:
            raise StorageError(f"{self.archive} has no {PLATFORM_FILE}. Name another backup.")
        there = sorted(self._data.companies.glob("*.db"))
        if not there:
            raise StorageError(
                f"There is no company's file in {self._data.companies}, so platform.db alone is not enough. "
                "Nothing was changed. Restore everything: leave out --only-platform."
            )
        owners = [owner for path in there if (owner := owner_in(path)) is not None]
        others = {owner.installation for owner in owners} - {self.manifest.installation}
        is_other = known is not None and known.installation != self.manifest.installation
        if is_other or (others and len(others) == len({owner.installation for owner in owners})):
            raise StorageError(
                f"{self.archive} is a backup of another installation than the one in {self._data.path}. Nothing "
                "was changed. Name a backup of this installation."
            )
        self._check([file])
        self._check_keys()
        return file

    @property
    def puts_aside(self) -> bool:
        return self._data.platform_file.exists()

    def platform_alone(self, backups: Path, who: Actor) -> PlatformRestored:
        """Restore platform.db. To find deleted companies, also read the archives of deleted companies in the
        folder `backups`.

        No other process may use the data folder. `who` is the actor in the audit trail. Raise StorageError or
        OSError if that fails. A failed restore changes nothing, except if the error is SwapUnfinished.
        """
        file, lost = self.check_platform(), self._lost()
        with self._unpacked_into() as folder:
            platform = folder / PLATFORM_FILE
            self._unpack(file, folder)
            migrations.migrate(platform, migrations.PLATFORM)  # an unpacked copy; the archive does not change
            keys = self._keys(platform)
            there = self._data.platform_file
            shut_out = keep_revoked(platform, there) if there.exists() else RevokedAccess({}, [], [])
            made_at = timestamps.from_text(self.manifest.began_at)
            settling = Settling(self._data, backups, self.manifest.installation, made_at, lost, who)
            settled = settling.settle(platform)
            swap(self._data.path, self._put(file))
        return PlatformRestored(self.replaced_files(), settled, shut_out, keys)

    def _lost(self) -> Lost:
        marks = {} if self._known is None else self._known.marks
        is_whole = self._known is not None and damage_of(self._data) is None
        found = read_platform(
            self._data,
            lambda tx: Lost(
                {each.id: each for each in companies.every_company(tx)}, deletion_store.ended(tx), marks, is_whole
            ),
        )
        return found or Lost({}, (), marks, is_whole=False)
