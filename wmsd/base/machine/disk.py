"""How little of the disk may be free: below one threshold it is told, below the other additions are refused.

Both are a share of the disk, between bounds: a tenth of a large disk is no trouble for a warehouse, and a
hundredth of a small one is no room.
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
"""When less is free, the rest is for companies that hold less than their share (`disk_shares.py`)."""


class Level(IntEnum):
    """How full the disk is."""

    GOOD = 0
    WARNED = 1
    REFUSED = 2


class Disk(NamedTuple):
    free: int
    all: int

    @property
    def refused_below(self) -> int:
        """The bytes that must be free for additions."""
        return min(max(self.all * REFUSED_PERCENT // 100, LEAST_REFUSED), MOST_REFUSED)

    @property
    def warned_below(self) -> int:
        """The bytes below which it is told."""
        return max(min(self.all * WARNED_PERCENT // 100, MOST_WARNED), 2 * self.refused_below)

    @property
    def is_shared(self) -> bool:
        return self.way_to_shares > 1

    @property
    def way_to_shares(self) -> float:
        """How far it is on the way to be shared: from 0, where it is empty, to 1."""
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
    """That of the folder. Raises OSError."""
    usage = shutil.disk_usage(folder)
    return Disk(usage.free, usage.total)
