"""Stores the high-water mark of each company's file: the position of its last change and the number of its last
event.

The marks are stored in `platform.db`. If someone replaces a company's file by an older copy, the position in the
copy is lower than the stored mark. So wmsd detects the replacement. After a change of the file, wmsd stores its
new mark within a minute. Until then, the stored mark is lower than the position in the file, but it is never
higher.
"""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import Final

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.plurals import count_of
from wmsd.data_folder.new_epoch import begin_epoch
from wmsd.data_folder.numbers import numbers_of
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.engine.high_water_mark import HighWaterMark, ahead, read_mark
from wmsd.db.files.company_files import CompanyFiles
from wmsd.tenants.companies import store as companies

LOG = logging.getLogger("wmsd.companies")
OLDER: Final = (
    "company %s: %s is older than its last known state: its last change is of %s, and %s (%d to %d) "
    "after that %s missing. wmsd uses this file, and skips the numbers that were already used. If "
    "you do not want this, restore a newer file"
)

AHEAD: Final = (
    "the last change of company %s has the time %s, so the clock was wrong then or is wrong now: check the "
    "clock. Until that time, later changes of this company get an `updated_at` just after it, in the right "
    "order"
)


class HighWaterMarks:
    def __init__(self, platform: Database, files: CompanyFiles, clock: Clock) -> None:
        self._platform = platform
        self._clock = clock
        self._told: set[int] = set()
        """The ids of companies whose last change is in the future, and for which wmsd has already logged this."""
        self._files = files
        self._changed = files.watch()
        """The ids of companies whose files were written after wmsd last stored their marks."""
        self._writing = asyncio.Lock()

    async def write(self) -> None:
        """Store the marks of the files that have changed. If a file cannot be read, the next call of `write` tries
        again.
        """
        async with self._writing:
            asked = set(self._changed)
            self._changed -= asked
            found: dict[int, HighWaterMark] = {}
            for company_id in asked:
                with suppress(*STORAGE_FAILURES):
                    if (database := self._files.open_database(company_id)) is not None:
                        found[company_id] = await database.read(read_mark)
            if found:
                await self._platform.write(lambda tx: companies.keep_marks(tx, found), is_quiet=True)
                self._files.marks.update(found)
            self._changed |= asked - set(found)
        self._tell()

    def ahead(self) -> dict[int, str]:
        """Find the companies whose last change is more than an hour in the future. Return the time of this change
        by company id.
        """
        return ahead(self._files.marks, self._clock.now())

    def _tell(self) -> None:
        found = self.ahead()
        for company_id in found.keys() - self._told:
            LOG.warning(AHEAD, self._files.code_of(company_id), found[company_id])
        for company_id in self._told - found.keys():
            LOG.info(
                (
                    "the last change of company %s is now at most an hour in the future; within an hour, new "
                    "changes get the current time again"
                ),
                self._files.code_of(company_id),
            )
        self._told = set(found)


def go_on(company: str, path: Path, found: HighWaterMark, mark: HighWaterMark) -> None:
    """Begin a new epoch in a company's file that is older than its stored high-water mark. Log how many events are
    missing.

    `found` is the mark that was read from the file, and `mark` is the stored one. New changes and events get
    numbers after those in `mark`. Raise StorageError or sqlite3.Error if the epoch cannot be written.
    """
    begin_epoch(path, "older_file", numbers_of(path, mark))
    missing = max(0, mark.last_event - found.last_event)
    LOG.warning(
        OLDER,
        company,
        path,
        timestamps.from_microseconds(found.last_change),
        count_of(missing, "event"),
        found.last_event + 1,
        mark.last_event,
        "is" if missing == 1 else "are",
    )
