"""Watches the free space of the disk. Logs when the disk is filling up, when it is full, and when it has enough
space again.
"""

import asyncio
import logging
from typing import Final

from wmsd.base.machine.disk import MEBIBYTE, Disk, Level, disk_of
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.data_folder.folder import DataFolder

LOG = logging.getLogger("wmsd.storage")
LOOK_SECONDS: Final = 10.0
MARGIN_PERCENT: Final = 5
"""By how many percent the free space must exceed a threshold before the disk counts as better. The margin avoids
repeated log messages near a threshold.
"""
UNREADABLE: Final = "the free space of the disk cannot be read"


class DiskWatch:
    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._told = RepeatedFailures(LOG)
        self.level = Level.GOOD
        """The level of free space in the last log message."""

    async def look(self) -> None:
        """Check the free space of the disk, and log a change of the level. A job calls this method."""
        with self._told.trying(UNREADABLE, OSError):
            self.note(await asyncio.to_thread(disk_of, self._folder.path))

    def note(self, disk: Disk) -> None:
        level = disk.level
        less = disk._replace(free=disk.free * 100 // (100 + MARGIN_PERCENT))
        if level == self.level or (level < self.level and less.level >= self.level):
            return
        self.level = level
        free, percent = disk.free // MEBIBYTE, disk.percent
        where = self._folder.path
        if self.level is Level.REFUSED:
            LOG.error(
                "the disk of %s is full: %d MiB are free (%d %%), and below %d MiB wmsd stores no new data. "
                "Reading and deleting still work. Free some space.",
                *(where, free, percent, disk.refused_below // MEBIBYTE),
            )
        elif self.level is Level.WARNED:
            LOG.warning(
                "the disk of %s is filling up: %d MiB are free (%d %%). Below %d MiB wmsd stores no new "
                "data. Free some space.",
                *(where, free, percent, disk.refused_below // MEBIBYTE),
            )
        else:
            LOG.info("the disk of %s has enough free space again: %d MiB are free (%d %%)", where, free, percent)
