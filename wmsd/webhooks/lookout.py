"""Which company's file is looked into for what is due, and when: after a commit, and when something comes due."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.complaints import Complaints
from wmsd.base.context import Company
from wmsd.base.problems import Problem
from wmsd.db.company_files import CompanyFiles
from wmsd.db.failures import STORAGE_FAILURES
from wmsd.webhooks.pace import MOMENT_SECONDS

LOG = logging.getLogger("wmsd.webhooks")
LOOK_AFTER_SECONDS: Final = 0.01
"""What is committed in the meantime is looked at together."""
AGAIN_SECONDS: Final = 1.0
UNAVAILABLE_SECONDS: Final = 60.0
A_STEP_BACK_SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 60.0
"""Of one look. It is broken off then, so that a file that never answers holds up no other for longer."""

Companies = Callable[[], Awaitable[Mapping[int, Company]]]
Look = Callable[[int, bool], Awaitable[int | None]]
"""Looks into a company's file, where waits are to be clamped if so asked; the milliseconds since 1970 at which
something comes due.
"""


class Lookout:
    def __init__(
        self,
        *,
        files: CompanyFiles,
        companies: Companies,
        clock: Clock,
        look: Look,
        is_busy: Callable[[], bool],
    ) -> None:
        self._files = files
        self._companies = companies
        self._clock = clock
        self._is_busy = is_busy
        self._look = look
        self._wanted: dict[int, None] = {}
        self._looker: asyncio.Task[None] | None = None
        self._next_due: dict[int, int | None] = {}
        """Milliseconds since 1970: when to look again."""
        self._signatures: dict[int, tuple[int, ...]] = {}
        self._latest = clock.now()
        self._to_clamp: set[int] = set()
        self._complaints = Complaints(LOG, STORAGE_FAILURES)

    @property
    def is_busy(self) -> bool:
        return bool(self._wanted or self._looker)

    async def start(self) -> None:
        """Looks at every company's file: what was under way when the process ended is due again."""
        self._to_clamp = set(await self._companies())
        for company_id in self._to_clamp:
            self.want(company_id)

    def want(self, company_id: int) -> None:
        """There may be something new in the company's file."""
        self._wanted[company_id] = None
        self._begin_to_look()

    def _begin_to_look(self) -> None:
        if self._wanted and self._looker is None:
            self._looker = asyncio.get_running_loop().create_task(self._look_at_all())

    def again(self, company_id: int, seconds: float = AGAIN_SECONDS) -> None:
        """Something came to nothing: whatever is due then."""
        self._next_due[company_id] = self._milliseconds() + int(seconds * 1000)

    async def tick(self) -> None:
        """Finds what has come due, and what another process has written."""
        companies = await self._companies()
        now = self._clock.now()
        if (self._latest - now).total_seconds() > A_STEP_BACK_SECONDS:
            self._to_clamp |= set(companies)
        self._latest = now
        for company_id in companies:
            signature = self._files.signature(company_id)
            next_due = self._next_due.get(company_id)
            is_due = next_due is not None and next_due <= self._milliseconds()
            if is_due or company_id in self._to_clamp or signature != self._signatures.get(company_id, ()):
                self._signatures[company_id] = signature
                self.want(company_id)
        self._begin_to_look()  # should that have failed

    def stop(self) -> None:
        if self._looker is not None:
            self._looker.cancel()

    async def _look_at_all(self) -> None:
        try:
            while self._wanted:
                await asyncio.sleep(MOMENT_SECONDS if self._is_busy() else LOOK_AFTER_SECONDS)
                if not await self._knows_companies():
                    return  # the next tick goes on
                for company_id in list(self._wanted):
                    del self._wanted[company_id]  # before: what is committed meanwhile is looked at again
                    await self._try_to_look_at(company_id)
        finally:
            self._looker = None

    async def _knows_companies(self) -> bool:
        """Without them each look would fail, and be told."""
        what = "webhooks cannot be looked at"
        try:
            await self._companies()
        except Exception as error:
            self._complaints.failed(what, error)
            return False
        self._complaints.over(what)
        return True

    async def _try_to_look_at(self, company_id: int) -> None:
        is_to_clamp = company_id in self._to_clamp
        self._to_clamp.discard(company_id)
        what = f"webhooks of company {company_id} cannot be looked at"
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                self._next_due[company_id] = await self._look(company_id, is_to_clamp)
            self._complaints.over(what)
            return
        except Problem:
            self.again(company_id, UNAVAILABLE_SECONDS)  # its file cannot be used, and the log says why
        except Exception as error:
            self.again(company_id)
            self._complaints.failed(what, error)
        if is_to_clamp:
            self._to_clamp.add(company_id)

    def _milliseconds(self) -> int:
        return timestamps.microseconds(self._clock.now()) // 1000
