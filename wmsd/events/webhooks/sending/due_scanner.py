"""Finds due deliveries in the companies' files. A file is scanned after a commit, when a delivery becomes due, and
when another process has written.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from heapq import heappop, heappush
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.machine.shortages import is_shortage
from wmsd.base.problems import Problem
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.contract.context import Company
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.engine.transaction import Transaction
from wmsd.db.files.company_files import CompanyFiles
from wmsd.events.webhooks import missing_credentials, store
from wmsd.events.webhooks.deliveries import due_store
from wmsd.events.webhooks.deliveries.due_store import Outlook, Target
from wmsd.events.webhooks.missing_credentials import MissingCredentials
from wmsd.events.webhooks.rules import off_because
from wmsd.events.webhooks.sending.throttle import MOMENT_SECONDS, Throttle
from wmsd.events.webhooks.store import SwitchedOff, has_subscriptions

LOG = logging.getLogger("wmsd.webhooks")
SCAN_AFTER_SECONDS: Final = 0.01
"""The delay between a commit and the scan. One scan finds everything that is committed during the delay."""
AGAIN_SECONDS: Final = 1.0
UNAVAILABLE_SECONDS: Final = 60.0
A_STEP_BACK_SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 60.0
"""The longest time of one scan. A longer scan is cancelled. So a file that does not answer delays the scans of the
next files by at most this time.
"""
SHORT: Final = "webhooks of some companies cannot be checked"
"""The log message for a scan that fails because the machine lacks memory, threads or open files. The message names
no company, so wmsd logs it only once for all companies.
"""
AT_THE_NEXT_TICK: Final = 0
"""The due time 0. It is always in the past, so that the file is scanned at the next tick."""

Companies = Callable[[], Awaitable[Mapping[int, Company]]]
Audit = Callable[[str, str], Awaitable[None]]
"""A function that writes an audit entry. Its arguments are the action and the subject of the entry."""
TellMissing = Callable[[Company, list[MissingCredentials]], Awaitable[None]]
"""A function that reports the subscriptions of a company whose credentials are missing. Its arguments are the
company and the list of these subscriptions. It is called when the list has changed.
"""


class Scan(NamedTuple):
    """The result of scanning a company's file. `due` has the targets of subscriptions with due deliveries, and
    `known` has the ids of all subscriptions.
    """

    company_id: int
    due: list[Target]
    known: set[int]


class DueScanner:
    def __init__(
        self,
        *,
        files: CompanyFiles,
        companies: Companies,
        audit: Audit,
        tell_missing: TellMissing,
        clock: Clock,
        throttle: Throttle,
    ) -> None:
        self._files = files
        self._companies = companies
        self._audit = audit
        self._tell_missing = tell_missing
        self._clock = clock
        self._throttle = throttle
        self._wanted: dict[int, None] = {}
        self._is_any_wanted = asyncio.Event()
        self._next_due: dict[int, int | None] = {}
        """The time of the next scan by company, in milliseconds since 1970."""
        self._by_time: list[tuple[int, int]] = []
        """A heap of scan times and company ids. An entry is outdated, and is ignored, if `_next_due` has another
        time for the company.
        """
        self._signatures: dict[int, tuple[int, ...]] = {}
        self._unknown: set[int] = set()
        """The companies for which no scan has checked yet whether they have subscriptions."""
        self._subscribed: set[int] = set()
        self._latest = clock.now()
        self._to_clamp: set[int] = set()
        self._switched_off: dict[int, int] = {}
        self._missing: dict[int, list[MissingCredentials]] = {}
        """The last reported missing credentials, by company."""
        self._complaints = RepeatedFailures(LOG, STORAGE_FAILURES)

    @property
    def switched_off(self) -> int:
        """The number of subscriptions that the service itself has switched off."""
        return sum(self._switched_off.values())

    # --- when to scan -------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Request a scan of every company's file. The scans find the deliveries that the last process had not
        finished, because these deliveries are due again.
        """
        self._to_clamp = set(await self._companies())
        self._unknown = set(self._to_clamp)
        for company_id in self._to_clamp:
            self.want(company_id)

    def want(self, company_id: int) -> None:
        """Request a scan of the company's file, because it may contain new deliveries."""
        self._wanted[company_id] = None
        self._is_any_wanted.set()

    def again(self, company_id: int, seconds: float = AGAIN_SECONDS) -> None:
        """Request another scan after `seconds`, because a scan or an attempt has failed."""
        self._note_due(company_id, self._milliseconds() + int(seconds * 1000))

    def _note_due(self, company_id: int, moment: int | None) -> None:
        if moment is not None and moment != self._next_due.get(company_id):
            heappush(self._by_time, (moment, company_id))
        self._next_due[company_id] = moment

    async def tick(self) -> None:
        """Request a scan of each file in which a delivery has become due, or which another process has changed.

        Companies without due deliveries do not make a tick slower, however many there are.
        """
        now = self._clock.now()
        if (self._latest - now).total_seconds() > A_STEP_BACK_SECONDS:
            self._to_clamp |= self._subscribed
        self._latest = now
        for company_id in self._to_clamp:
            self.want(company_id)
        until = self._milliseconds()
        while self._by_time and self._by_time[0][0] <= until:
            moment, company_id = heappop(self._by_time)
            if self._next_due.get(company_id) == moment:
                self._next_due[company_id] = None
                self.want(company_id)
        for company_id in self._files.written_elsewhere(await self._companies()):
            signature = self._files.signature(company_id)
            if signature != self._signatures.get(company_id, ()):
                self._signatures[company_id] = signature
                self.want(company_id)

    def _milliseconds(self) -> int:
        return timestamps.microseconds(self._clock.now()) // 1000

    # --- scans --------------------------------------------------------------------------------------------------

    async def scans(self) -> AsyncIterator[Scan]:
        """Scan the requested files one after the other, forever, and yield the results."""
        while True:
            await self._is_any_wanted.wait()
            await asyncio.sleep(MOMENT_SECONDS if self._throttle.is_busy else SCAN_AFTER_SECONDS)
            if not await self._knows_companies():
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            for company_id in list(self._wanted):
                del self._wanted[company_id]  # before the scan: a commit during it causes another scan
                scan = await self._try_to_scan(company_id)
                if scan is not None:
                    yield scan
            if not self._wanted:
                self._is_any_wanted.clear()

    async def _knows_companies(self) -> bool:
        """Return True if the list of companies can be read. If it cannot be read, log this only once."""
        with self._complaints.trying("webhooks cannot be checked", Exception):
            await self._companies()
            return True
        return False

    async def _try_to_scan(self, company_id: int) -> Scan | None:
        is_to_clamp = company_id in self._to_clamp
        self._to_clamp.discard(company_id)
        what = f"webhooks of company {company_id} cannot be checked"
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                scan = await self._scan(company_id, is_to_clamp)
            self._complaints.over(what)
            self._complaints.over(SHORT)
            return scan
        except Problem:
            self.again(company_id, UNAVAILABLE_SECONDS)  # the file cannot be used, and the log already says why
        except Exception as error:
            self.again(company_id)
            self._complaints.failed(SHORT if is_shortage(error) else what, error)
        if is_to_clamp:
            self._to_clamp.add(company_id)
        return None

    async def _scan(self, company_id: int, is_to_clamp: bool) -> Scan:
        company = (await self._companies()).get(company_id)
        if company is None or not await self._may_have_subscriptions(company_id):
            self._note_due(company_id, None)
            return Scan(company_id, [], set())
        if company.sends_nothing:
            self._to_clamp.add(company_id)  # each tick checks again; when sending resumes, waits are clamped
            self._note_due(company_id, None)
            return Scan(company_id, [], set())
        database = await self._files.get(company_id)
        if is_to_clamp:
            await database.write(due_store.clamp)
        outlooks, switched_off, missing = await database.read(_see)
        next_due = min((each.next_due for each in outlooks if each.next_due is not None), default=None)
        due = [each.target for each in outlooks if each.is_due]
        because = off_because(company)
        if because is not None:
            is_more_to_skip = bool(due) and await _skip_some(database, because)
            due, next_due = [], AT_THE_NEXT_TICK if is_more_to_skip else next_due
        await self._log_switched_off(company, database, switched_off)
        await self._report_missing_credentials(company, missing)
        self._note_due(company_id, next_due)
        (self._subscribed.add if outlooks else self._subscribed.discard)(company_id)
        return Scan(company_id, due, {each.target.subscription_id for each in outlooks})

    async def _may_have_subscriptions(self, company_id: int) -> bool:
        """At the first call for a company, return whether the company has subscriptions. At later calls, return
        True.

        The first call does not keep the file open. For a company without subscriptions, which is the usual case,
        the file need not be opened again.
        """
        if company_id not in self._unknown:
            return True
        found = await self._files.read_each([company_id], has_subscriptions)
        self._unknown.discard(company_id)
        return found.get(company_id, True)

    async def _log_switched_off(self, company: Company, database: Database, found: list[SwitchedOff]) -> None:
        self._switched_off[company.id] = len(found)
        new = [each for each in found if not each.is_audited]
        for each in new:
            await self._audit(f"webhook.switch_off {each.because}", f"{company.code} {each.name}")
            LOG.warning(
                "webhook %s of %s was switched off: %s Fix the receiver, then switch the webhook on",
                each.name,
                company.code,
                each.because,
            )
        if new:
            await database.write(lambda tx: store.note_audited(tx, [each.id for each in new]))

    async def _report_missing_credentials(self, company: Company, found: list[MissingCredentials]) -> None:
        """Report which subscriptions lack credentials, if this has changed since the last report.

        If the report fails, log the error and continue to send. The next scan reports again.
        """
        if found == self._missing.get(company.id, []):
            return
        what = f"wmsd cannot yet store which webhooks of {company.code} wait for credentials"
        with self._complaints.trying(what, *STORAGE_FAILURES):
            await self._tell_missing(company, found)
            self._missing[company.id] = found


def _see(tx: Transaction) -> tuple[list[Outlook], list[SwitchedOff], list[MissingCredentials]]:
    return due_store.outlooks(tx), store.switched_off(tx), missing_credentials.missing(tx)


async def _skip_some(database: Database, because: str) -> bool:
    """Skip a limited number of open deliveries. Return True if there may be more. Between two calls, the scanner
    can scan the files of other companies.
    """
    return await database.write(lambda tx: due_store.skip_all(tx, because)) >= due_store.AT_ONCE
