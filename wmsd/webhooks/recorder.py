"""Writes down what came of attempts, in groups: what comes back while one is written is in the next."""

import asyncio
import logging
from asyncio import Future
from functools import partial
from typing import Final, NamedTuple

from wmsd.base.complaints import Complaints
from wmsd.db.company_files import CompanyFiles
from wmsd.db.failures import STORAGE_FAILURES
from wmsd.webhooks import results
from wmsd.webhooks.results import Result
from wmsd.webhooks.tasks import Tasks

LOG = logging.getLogger("wmsd.webhooks")
MOST_UNWRITTEN: Final = 512
"""Results of a company that are not written down yet: beyond it nothing more is sent. A crash sends them again."""
AGAIN_SECONDS: Final = 1.0
GATHERING_SECONDS: Final = 0.025
"""What comes back so soon after a group is written is written together: a group costs more than what is in it."""


class Unwritten(NamedTuple):
    """`released` gets the subscriptions of which the writing has released more."""

    result: Result
    released: Future[set[int]]


class Recorder:
    def __init__(self, files: CompanyFiles) -> None:
        self._files = files
        self._unwritten: dict[int, list[Unwritten]] = {}
        """By company. A list that is not empty has a task that writes it down."""
        self._complaints = Complaints(LOG, STORAGE_FAILURES)
        self.tasks = Tasks()

    async def catch_up(self, company_id: int) -> None:
        """Waits until so much is written down that more may be sent for this company."""
        while len(unwritten := self._unwritten.get(company_id, [])) >= MOST_UNWRITTEN:
            await asyncio.wait([unwritten[0].released])

    async def record(self, company_id: int, result: Result) -> bool:
        """Ends when the result is on disk. Whether that has released more of its subscription."""
        unwritten = self._unwritten.setdefault(company_id, [])
        if not unwritten:
            self.tasks.spawn(self._write_down(company_id, unwritten))
        waiting = Unwritten(result, asyncio.get_running_loop().create_future())
        unwritten.append(waiting)
        return result.subscription_id in await waiting.released

    async def _write_down(self, company_id: int, unwritten: list[Unwritten]) -> None:
        what = f"what was sent for company {company_id} cannot be written down yet"
        try:
            while unwritten:
                try:
                    await self._write_group(company_id, unwritten)
                    self._complaints.over(what)
                except Exception as error:
                    self._complaints.failed(what, error)
                    await asyncio.sleep(AGAIN_SECONDS)
                if unwritten:
                    await asyncio.sleep(GATHERING_SECONDS)
        finally:
            del self._unwritten[company_id]

    async def _write_group(self, company_id: int, unwritten: list[Unwritten]) -> None:
        group = list(unwritten)
        database = await self._files.get(company_id)
        released = await database.write(partial(results.record, results=[each.result for each in group]))
        del unwritten[: len(group)]
        for each in group:
            if not each.released.done():  # nobody waits any more
                each.released.set_result(released)
