"""Checks that the disk has enough space for an import, before and while the rows are written."""

from pathlib import Path
from typing import Final

from wmsd.base.machine.disk import disk_of
from wmsd.base.problems import unavailable
from wmsd.db.engine.staging import StagingFolder

MEGABYTE = 1_000_000
SHARE_OF_DISK: Final = 4
"""The spare disk space is divided by this number, and each import may use one part. The parts leave enough space
for two imports at the same time.
"""


def staging_folder(folder: Path) -> StagingFolder:
    """Return a staging folder for an import that was started in the browser. The staged rows may use only a part
    of the spare disk space. Raise OSError if the disk space cannot be read.
    """
    disk = disk_of(folder)
    spare = max(disk.free - disk.refused_below, 0)
    return StagingFolder(str(folder), spare // SHARE_OF_DISK, disk.refused_below)


class Room:
    """Checks the disk space for an import into a company's file. `folder` is a folder on the same disk as the
    file.

    An import leaves some space free for the orders and receptions that users create in the meantime. `most_growth`
    is the number of bytes by which the company's file may grow, or None for no limit.
    """

    def __init__(self, folder: Path, most_growth: int | None = None) -> None:
        self._folder = folder
        self.most_growth = most_growth

    def admit(self, rows: int, bytes_per_row: int) -> None:
        """Check the free space before `rows` rows are written. Raise Problem (503) if the space is too small."""
        disk, needed = disk_of(self._folder), rows * bytes_per_row
        if disk.free < needed + disk.refused_below:
            raise unavailable(
                f"The disk is too full to import {rows} rows: the import needs up to {_megabytes(needed)} "
                f"MB, {_megabytes(disk.refused_below)} MB must stay free, and {_megabytes(disk.free)} MB are "
                "free. Free some space, or import the file in parts.",
                30,
            )

    def look(self) -> None:
        """Check the free space while rows are written. Raise Problem (503) if the disk has become too full."""
        disk = disk_of(self._folder)
        if disk.free < disk.refused_below:
            raise unavailable(
                f"The disk became too full during the import: {_megabytes(disk.free)} MB are free, and "
                f"{_megabytes(disk.refused_below)} MB must stay free. Nothing was imported: free some space, "
                "then import the file again.",
                30,
            )


def _megabytes(number: int) -> int:
    return -(-number // MEGABYTE)
