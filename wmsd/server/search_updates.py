"""Keeps the search index of each company up to date. No request waits for that: each search looks through what the
index does not have yet (`warehouse/search/hits.py`).
"""

from pathlib import Path
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.machine.disk import disk_of
from wmsd.base.problems import Problem
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.files.company_files import CompanyFiles
from wmsd.dispatch.access_cache import AccessCache
from wmsd.warehouse.search.search_store import index_changes

MOST_OPENED: Final = 10
"""Closed files that are opened for it in one turn."""
LONGEST_TURN: Final = 0.25
"""Seconds. What is left of a large import comes with the next turns."""


class SearchUpdates:
    def __init__(self, folder: Path, files: CompanyFiles, access: AccessCache, clock: Clock) -> None:
        self._folder = folder
        self._files = files
        self._access = access
        self._clock = clock
        self._changed = files.watch()
        """The companies whose index may be behind."""
        self._is_new = True

    async def index_changes(self) -> None:
        """Indexes what has changed, for a quarter of a second. A job calls it each second. On a full disk what is
        left is for revoking and deleting, so the index waits.
        """
        disk = disk_of(self._folder)
        if disk.free < disk.refused_below:
            return
        companies = await self._access.companies()
        if self._is_new:
            self._changed.update(companies)
            self._is_new = False
        self._changed.intersection_update(companies)
        wanted = {each for each in self._changed if companies[each].frozen_at is None}
        is_open = {each for each in wanted if self._files.is_open(each)}
        until = self._clock.monotonic() + LONGEST_TURN
        for company_id in (*is_open, *sorted(wanted - is_open)[:MOST_OPENED]):
            if self._clock.monotonic() >= until:
                return
            await self._index(company_id, until)

    async def _index(self, company_id: int, until: float) -> None:
        """A company whose file fails stays behind until its file works again."""
        self._changed.discard(company_id)
        has_more = True
        try:
            async with self._files.visiting(company_id) as database:
                while has_more and self._clock.monotonic() < until:
                    has_more = await database.write(index_changes, is_quiet=True)
        except (Problem, *STORAGE_FAILURES):
            pass
        finally:
            if has_more:
                self._changed.add(company_id)
