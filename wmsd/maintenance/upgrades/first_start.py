"""The first start of a new version. It migrates every file before the server accepts requests.

If that fails, the previous program takes over again. No change is lost, because no request was accepted.
"""

import logging
from collections.abc import Collection
from pathlib import Path

from wmsd import __version__
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.failures import StorageError
from wmsd.db.files.company_files import CompanyFiles
from wmsd.host.program_file import ProgramFile
from wmsd.maintenance.upgrades.journal import Upgrade, read_upgrade, write_upgrade
from wmsd.maintenance.upgrades.kept_copies import KeptCopies

LOG = logging.getLogger("wmsd.upgrade")


class Trial:
    def __init__(self, data: DataFolder, upgrade: Upgrade) -> None:
        self._data = data
        self._upgrade = upgrade
        self._is_over = False

    async def check(self, files: CompanyFiles, company_ids: Collection[int]) -> None:
        """Migrate the files of these companies. Raise StorageError if any file cannot be used now, but could be
        used before the upgrade.
        """
        await files.prepare(company_ids)
        failed = {each: why for each, why in files.failed.items() if each not in self._upgrade.unavailable}
        if failed:
            first = next(iter(failed.values()))
            raise StorageError(
                f"{len(failed)} of {len(company_ids)} companies cannot be served. The first reason is: {first}"
            )

    def succeed(self) -> None:
        """Mark the upgrade as done. From now on wmsd never goes back automatically, because requests write data.

        Raise OSError if the mark cannot be written.
        """
        write_upgrade(self._data.path, self._upgrade.model_copy(update={"outcome": "done"}))
        self._is_over = True
        LOG.info("the upgrade from wmsd %s to %s is done", self._upgrade.from_version, __version__)

    def fail(self, error: Exception) -> bool:
        """Put the previous program back, and return True. The caller must then start that program.

        If the upgrade is already done, change nothing and return False. Raise StorageError if the previous program
        cannot be put back.
        """
        if self._is_over:
            return False
        reason = " ".join(str(error).split()).rstrip(".") + "."
        LOG.error("the upgrade to wmsd %s failed: %s", __version__, reason)
        LOG.error("wmsd %s starts again, with the files from before the upgrade", self._upgrade.from_version)
        try:
            write_upgrade(self._data.path, self._upgrade.model_copy(update={"reason": reason}))
        except OSError as refused:
            LOG.warning("the reason for the failed upgrade cannot be stored: %s", refused.strerror)
        ProgramFile(Path(self._upgrade.program)).put_back()
        return True


def begin(data: DataFolder) -> Trial | None:
    """Begin or revert an upgrade when a server starts. Lock the data folder before you call this function.

    If an upgrade is running and this is its new program, return a `Trial`, which ends the upgrade later. If this
    is its previous program, the upgrade has failed: put the files back, and return None. In all other cases,
    return None. Raise StorageError, sqlite3.Error or OSError if that fails.
    """
    upgrade = read_upgrade(data.path)
    if upgrade is None or upgrade.outcome != "under way":
        return None
    if upgrade.to_version == __version__:
        return Trial(data, upgrade)
    if upgrade.from_version == __version__:
        for path in KeptCopies(data, upgrade.to_version).put_back():
            LOG.warning("%s was set back to its state before the upgrade to wmsd %s", path, upgrade.to_version)
        reason = upgrade.reason or "The upgrade was interrupted."
        write_upgrade(data.path, upgrade.model_copy(update={"outcome": "went back", "reason": reason}))
    else:
        LOG.warning(
            ("an upgrade to wmsd %s was started, but the program that runs now is wmsd %s"),
            upgrade.to_version,
            __version__,
        )
        write_upgrade(data.path, upgrade.model_copy(update={"outcome": "done"}))
    return None
