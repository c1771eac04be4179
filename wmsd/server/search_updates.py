"""Updates of the companies' search indexes.

No request waits for an update: a search also reads the records that the index does not have yet
(`warehouse/search/hits.py`).
"""

import logging
from collections import deque
from pathlib import Path
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.machine.disk import disk_of
from wmsd.base.problems import Problem
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.files.company_files import CompanyFiles
from wmsd.dispatch.access_cache import AccessCache
from wmsd.server.company_turns import CompanyTurns
from wmsd.warehouse.search.index_damage import DamagedIndexes, is_index_damage
from wmsd.warehouse.search.search_store import empty_index, index_changes, is_current

LOG = logging.getLogger("wmsd")
MOST_AT_ONCE: Final = 20
"""How many open files are indexed in one run of the job, at most. If many companies write, each of them is
therefore indexed less often. Indexing ten changes at once costs little more than indexing one change.
"""
MOST_OPENED: Final = 10
"""How many closed files are opened for indexing in one run of the job, at most."""
LONGEST_TURN: Final = 0.25
"""After this number of seconds, a run of the job ends. The rest of a large import is indexed in the next runs."""


class SearchUpdates:
    def __init__(
        self, folder: Path, files: CompanyFiles, access: AccessCache, damaged: DamagedIndexes, clock: Clock
    ) -> None:
        self._folder = folder
        self._files = files
        self._access = access
        self._damaged = damaged
        self._clock = clock
        self._changed = files.watch()
        """The ids of the companies whose index may be outdated."""
        self._is_new = True
        self._turns = CompanyTurns()

    async def index_changes(self) -> None:
        """Index changes for a quarter of a second. A job calls this method each second.

        If the disk is full, nothing is indexed. The remaining space is kept for changes that revoke access or
        delete data.
        """
        disk = disk_of(self._folder)
        if disk.free < disk.refused_below:
            return
        companies = await self._access.companies()
        if self._is_new:
            self._changed.update(companies)
            self._is_new = False
        self._changed |= self._damaged.noted()
        self._changed.intersection_update(companies)
        wanted = {each for each in self._changed if companies[each].frozen_at is None}
        is_open = {each for each in wanted if self._files.is_open(each)}
        first = self._turns.first
        waiting = deque([*first(is_open, MOST_AT_ONCE), *first(wanted - is_open, MOST_OPENED)])
        until = self._clock.monotonic() + LONGEST_TURN
        while waiting and self._clock.monotonic() < until:
            company_id = waiting.popleft()
            if await self._has_more(company_id):
                waiting.append(company_id)

    async def _has_more(self, company_id: int) -> bool:
        """Index some changes of a company, and return True if there are more changes to index.

        A company whose file fails is tried again later. A record that cannot be indexed waits until the company's
        next change. A damaged index is emptied first.
        """
        self._changed.discard(company_id)
        self._turns.note(company_id)
        is_damaged = self._damaged.is_to_be_emptied(company_id)
        try:
            async with self._files.visiting(company_id) as database:
                has_more = is_damaged or not await database.read(is_current)
                if has_more:
                    has_more = await database.write(empty_index if is_damaged else index_changes, is_quiet=True)
        except (Problem, *STORAGE_FAILURES) as error:
            self._changed.add(company_id)
            if is_index_damage(error):
                self._damaged.note(company_id)
            return False
        except Exception:  # an error in one company must not stop the indexes of the others
            LOG.exception("the search index of company %d could not be updated", company_id)
            return False
        if is_damaged:
            self._damaged.note_emptied(company_id)
            LOG.warning("the search index of company %d was damaged, and wmsd builds it again", company_id)
        if has_more:
            self._changed.add(company_id)
        else:
            self._damaged.forget(company_id)
        return has_more
