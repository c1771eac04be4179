"""Records the results of attempts in groups. Results that arrive while a group is being written are in the next
group.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.db.files.company_files import CompanyFiles
from wmsd.events.webhooks.deliveries import results_store
from wmsd.events.webhooks.deliveries.results_store import Result

MOST_UNWRITTEN: Final = 512
"""The maximum number of unrecorded results of a company. At this number, wmsd sends no more deliveries for the
company until results are recorded.

The limit keeps repetitions few: after a crash, wmsd sends again each delivery whose result was not recorded.
"""
AGAIN_SECONDS: Final = 1.0
GATHERING_SECONDS: Final = 0.025
"""The pause after a group is written. All results that arrive during the pause form the next group. Large groups
are better, because each write has a high fixed cost.
"""


class Recorder:
    def __init__(self, files: CompanyFiles, complaints: RepeatedFailures) -> None:
        self._files = files
        self._unwritten: dict[int, list[Result]] = {}
        """The unrecorded results by company. A company has an entry while a task runs `groups` for it. The entry
        is created just before the task starts.
        """
        self._has_written = asyncio.Event()
        self._complaints = complaints

    async def catch_up(self, company_id: int) -> None:
        """Wait until the company has fewer than `MOST_UNWRITTEN` unrecorded results."""
        while len(self._unwritten.get(company_id, ())) >= MOST_UNWRITTEN:
            self._has_written.clear()
            await self._has_written.wait()

    def is_recording(self, company_id: int) -> bool:
        """Return True if a task records the results of this company."""
        return company_id in self._unwritten

    def add(self, company_id: int, result: Result) -> None:
        self._unwritten.setdefault(company_id, []).append(result)

    async def groups(self, company_id: int) -> AsyncIterator[tuple[list[Result], set[int]]]:
        """Record the results of the company in groups, until no results are left.

        After a group is on disk, yield the group and a set of subscription ids. In these subscriptions, a held
        delivery was released.
        """
        what = f"results of webhook deliveries of company {company_id} cannot be stored yet"
        unwritten = self._unwritten[company_id]
        try:
            while unwritten:
                group = list(unwritten)
                try:
                    database = await self._files.get(company_id)
                    released = await database.write(partial(results_store.record, results=group))
                except Exception as error:
                    self._complaints.failed(what, error)
                    await asyncio.sleep(AGAIN_SECONDS)
                    continue
                self._complaints.over(what)
                del unwritten[: len(group)]
                self._has_written.set()
                yield group, released
                if unwritten:
                    await asyncio.sleep(GATHERING_SECONDS)
        finally:
            del self._unwritten[company_id]
