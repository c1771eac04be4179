"""Writes down what came of attempts, in groups: what comes back while one is written is in the next."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.db.files.company_files import CompanyFiles
from wmsd.events.webhooks.deliveries import results_store
from wmsd.events.webhooks.deliveries.results_store import Result

MOST_UNWRITTEN: Final = 512
"""Results of a company that are not written down yet: beyond it nothing more is sent. A crash sends them again."""
AGAIN_SECONDS: Final = 1.0
GATHERING_SECONDS: Final = 0.025
"""What comes back so soon after a group is written is written together: a group costs more than what is in it."""


class Recorder:
    def __init__(self, files: CompanyFiles, complaints: RepeatedFailures) -> None:
        self._files = files
        self._unwritten: dict[int, list[Result]] = {}
        """By company, as long as somebody iterates over `groups`, or is about to."""
        self._has_written = asyncio.Event()
        self._complaints = complaints

    async def catch_up(self, company_id: int) -> None:
        """Waits until so much is written down that more may be sent for this company."""
        while len(self._unwritten.get(company_id, ())) >= MOST_UNWRITTEN:
            self._has_written.clear()
            await self._has_written.wait()

    def is_recording(self, company_id: int) -> bool:
        """Whether somebody writes down what is added for this company."""
        return company_id in self._unwritten

    def add(self, company_id: int, result: Result) -> None:
        self._unwritten.setdefault(company_id, []).append(result)

    async def groups(self, company_id: int) -> AsyncIterator[tuple[list[Result], set[int]]]:
        """Writes down what was added, and what is added meanwhile. Each group when it is on disk, with the
        subscriptions of which it has released more.
        """
        what = f"what was sent for company {company_id} cannot be written down yet"
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
