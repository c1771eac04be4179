"""Whether the disk has room for an import: before its rows are written, and while they are."""

from pathlib import Path
from typing import Final

from wmsd.base.machine.disk import disk_of
from wmsd.base.problems import unavailable
from wmsd.db.engine.staging import StagingFolder

MEGABYTE = 1_000_000
SHARE_OF_DISK: Final = 4
"""The part of what the disk has to spare that the rows of one import may take. Two are at work at once."""


def staging_folder(folder: Path) -> StagingFolder:
    """A folder on the disk of the data, for an import that somebody at the pages has chosen. Raises OSError."""
    disk = disk_of(folder)
    spare = max(disk.free - disk.refused_below, 0)
    return StagingFolder(str(folder), spare // SHARE_OF_DISK, disk.refused_below)


class Room:
    """The disk of the company's file. Orders and receptions go on beside an import, so it takes nothing of what is
    kept for them. `most_growth`: the bytes by which the company's file may grow; None for any.
    """

    def __init__(self, folder: Path, most_growth: int | None = None) -> None:
        self._folder = folder
        self.most_growth = most_growth

    def admit(self, rows: int, bytes_per_row: int) -> None:
        """Call it before so many rows are written. Raises Problem."""
        disk, needed = disk_of(self._folder), rows * bytes_per_row
        if disk.free < needed + disk.refused_below:
            raise unavailable(
                f"There is no room for this import: its {rows} rows need up to {_megabytes(needed)} MB, and "
                f"{_megabytes(disk.refused_below)} MB must stay free, but only {_megabytes(disk.free)} MB are "
                "free on the disk of the data. Nothing was imported. Make room, or import the file in parts.",
                30,
            )

    def look(self) -> None:
        """Call it now and then while rows are written. Raises Problem."""
        disk = disk_of(self._folder)
        if disk.free < disk.refused_below:
            raise unavailable(
                f"The disk of the data has filled up meanwhile: {_megabytes(disk.free)} MB are free, and "
                f"{_megabytes(disk.refused_below)} MB must stay free. Nothing was imported, and what the import "
                "had taken is given back. Make room, then import the file again.",
                30,
            )


def _megabytes(number: int) -> int:
    return -(-number // MEGABYTE)
