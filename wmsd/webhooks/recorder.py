"""Writes down what came of attempts, in groups: what comes back while one is written is in the next."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

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


@dataclass(slots=True)
class Unwritten:
    results: list[Result] = field(default_factory=list)
    is_being_written: bool = False


class Recorder:
    def __init__(
        self, files: CompanyFiles, tasks: Tasks, written: Callable[[int, Sequence[Result], set[int]], None]
    ) -> None:
        """`written` is told what stands in a company's file now, and whose next deliveries that has released."""
        self._files = files
        self._tasks = tasks
        self._written = written
        self._of_company: dict[int, Unwritten] = {}
        self._complaints = Complaints(LOG, STORAGE_FAILURES)

    @property
    def unwritten(self) -> int:
        """How many results are not written down yet."""
        return sum(len(each.results) for each in self._of_company.values())

    def is_behind(self, company_id: int) -> bool:
        """Whether nothing more should be sent for this company before more is written down."""
        return len(self._unwritten(company_id).results) >= MOST_UNWRITTEN

    def note(self, company_id: int, result: Result) -> None:
        unwritten = self._unwritten(company_id)
        unwritten.results.append(result)
        if not unwritten.is_being_written:
            self._tasks.spawn(self._write_down(company_id, unwritten))
            unwritten.is_being_written = True

    def _unwritten(self, company_id: int) -> Unwritten:
        found = self._of_company.get(company_id)
        if found is None:
            found = self._of_company[company_id] = Unwritten()
        return found

    async def _write_down(self, company_id: int, unwritten: Unwritten) -> None:
        what = f"what was sent for company {company_id} cannot be written down yet"
        try:
            while unwritten.results:
                try:
                    await self._write_down_once(company_id, unwritten)
                    self._complaints.over(what)
                except Exception as error:
                    self._complaints.failed(what, error)
                    await asyncio.sleep(AGAIN_SECONDS)
                if unwritten.results:
                    await asyncio.sleep(GATHERING_SECONDS)
        finally:
            unwritten.is_being_written = False

    async def _write_down_once(self, company_id: int, unwritten: Unwritten) -> None:
        found = list(unwritten.results)
        database = await self._files.get(company_id)
        released = await database.write(partial(results.record, results=found))
        del unwritten.results[: len(found)]
        self._written(company_id, found, released)
