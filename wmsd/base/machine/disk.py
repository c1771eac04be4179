"""The two limits of free disk space: below the first limit wmsd warns, below the second wmsd refuses additions.

Each limit is a percentage of the disk, within bounds in bytes. On a large disk, the percentage alone would demand
more free space than a warehouse needs. On a small disk, it would demand too little.
"""

import shutil
from enum import IntEnum
from pathlib import Path
from typing import Final, NamedTuple

MEBIBYTE: Final = 1024**2
WARNED_PERCENT: Final = 10
MOST_WARNED: Final = 10 * 1024 * MEBIBYTE
REFUSED_PERCENT: Final = 3
LEAST_REFUSED: Final = 32 * MEBIBYTE
MOST_REFUSED: Final = 64 * MEBIBYTE
SHARED_PERCENT: Final = 20
"""If less than this percentage of the disk is free, the companies have to share the disk. Each company may only
grow up to its share (`disk_shares.py`).
"""


class Level(IntEnum):
    """How full the disk is."""

    GOOD = 0
    WARNED = 1
    REFUSED = 2


class Disk(NamedTuple):
    """The free space and the size (`all`) of a disk, in bytes."""

    free: int
    all: int

    @property
    def refused_below(self) -> int:
        """The bytes of free space below which additions are refused."""
        return min(max(self.all * REFUSED_PERCENT // 100, LEAST_REFUSED), MOST_REFUSED)

    @property
    def warned_below(self) -> int:
        """The bytes of free space below which wmsd warns."""
        return max(min(self.all * WARNED_PERCENT // 100, MOST_WARNED), 2 * self.refused_below)

    @property
    def is_shared(self) -> bool:
        return self.fraction_to_shares > 1

    @property
    def fraction_to_shares(self) -> float:
        """Return how near the disk is to the point at which companies have to share it (see `SHARED_PERCENT`).

        0 means an empty disk. From 1 on, companies have to share the disk.
        """
        return (self.all - self.free) / max(1, self.all * (100 - SHARED_PERCENT) / 100)

    @property
    def level(self) -> Level:
        if self.free < self.refused_below:
            return Level.REFUSED
        return Level.WARNED if self.free < self.warned_below else Level.GOOD

    @property
    def percent(self) -> int:
        return self.free * 100 // self.all if self.all else 0


def disk_of(folder: Path) -> Disk:
    """Return the size and free space of the folder's disk. Raise OSError if the folder cannot be read."""
    usage = shutil.disk_usage(folder)
    return Disk(usage.free, usage.total)
