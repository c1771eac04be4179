"""Sends what is due. Everything that counts is a row; what stands here in memory may be lost at any moment.

After a commit, and when something comes due, it looks into the company's file, loads what is due, sends it, and
writes down what came of it. What was not written down is due again: at least once, always.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.context import Company
from wmsd.base.problems import Problem
from wmsd.base.vault import Vault
from wmsd.db.company_files import CompanyFiles
from wmsd.db.database import Database
from wmsd.db.sqlite import sqlite3
from wmsd.db.transaction import Transaction
from wmsd.webhooks import deliveries
from wmsd.webhooks.attempt import attempt
from wmsd.webhooks.deliveries import Due, Look, Result, SwitchedOff, Target
from wmsd.webhooks.dialler import Dialler
from wmsd.webhooks.feed import Feed
from wmsd.webhooks.pace import MOMENT_SECONDS, Pace
from wmsd.webhooks.rules import GONE, off_because
from wmsd.webhooks.slots import Slots

LOG = logging.getLogger("wmsd.webhooks")
LOOK_AFTER_SECONDS: Final = 0.01
"""What is committed in the meantime is looked at together."""
MOST_UNWRITTEN: Final = 256
"""Results of a company that are not written down yet: beyond it nothing more is sent."""
AGAIN_SECONDS: Final = 1.0
UNAVAILABLE_SECONDS: Final = 60.0
STOP_SECONDS: Final = 3.0
SILENT_SECONDS: Final = 3600.0
"""Between two lines in the log that tell of one subscription's failing."""
A_STEP_BACK_SECONDS: Final = 1.0

Audit = Callable[[str, str], Awaitable[None]]
"""Writes down that the service did this to that."""


@dataclass(slots=True)
class CompanyState:
    feeds: dict[int, Feed] = field(default_factory=dict)
    unwritten: list[Result] = field(default_factory=list)
    is_writing: bool = False
    next_due: int | None = None
    """Milliseconds since 1970: when to look again."""
    file_signature: tuple[int, ...] = ()
    switched_off: int = 0


class Sender:
    def __init__(
        self,
        *,
        files: CompanyFiles,
        companies: Callable[[], Awaitable[Mapping[int, Company]]],
        audit: Audit,
        client: Dialler,
        vault: Vault,
        clock: Clock,
        answered: Callable[[], int],
    ) -> None:
        """`answered`: how many requests there have been."""
        self._files = files
        self._companies = companies
        self._audit = audit
        self._client = client
        self._vault = vault
        self._clock = clock
        self._states: dict[int, CompanyState] = {}
        self._to_look_at: dict[int, None] = {}
        self._looker: asyncio.Task[None] | None = None
        self._runnable: dict[bool, deque[Feed]] = {True: deque(), False: deque()}
        """By whether the receiver has just answered."""
        self._slots = Slots()
        self._pace = Pace(answered)
        self._next_moment: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending: set[asyncio.Task[None]] = set()
        """Of the tasks those that wait for a receiver."""
        self._is_running = False
        self._latest = clock.now()
        self._to_clamp: set[int] = set()

    # --- when to look -------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Looks at every company's file: what was under way when the process ended is due again."""
        self._is_running = True
        self._to_clamp = set(await self._companies())
        for company_id in self._to_clamp:
            self.committed(company_id)

    def committed(self, company_id: int) -> None:
        """Something was written to the company's file."""
        if self._is_running:
            self._to_look_at[company_id] = None
            if self._looker is None:
                self._looker = asyncio.get_running_loop().create_task(self._look_at_all())

    async def tick(self) -> None:
        """Finds what has come due, and what another process has written. APScheduler calls it."""
        if not self._is_running:
            return
        companies = await self._companies()
        now = self._clock.now()
        if (self._latest - now).total_seconds() > A_STEP_BACK_SECONDS:
            LOG.warning("the clock was set back: what waits is due after its own back-off at most")
            self._to_clamp |= set(companies)
        self._latest = now
        for company_id in companies:
            state = self._state(company_id)
            signature = self._files.signature(company_id)
            is_due = state.next_due is not None and state.next_due <= _milliseconds(self._clock)
            if is_due or company_id in self._to_clamp or signature != state.file_signature:
                state.file_signature = signature
                self.committed(company_id)

    @property
    def switched_off(self) -> int:
        """How many subscriptions the service itself has switched off."""
        return sum(state.switched_off for state in self._states.values())

    @property
    def is_busy(self) -> bool:
        """Whether anything is looked for, loaded, sent or written down, or waits for its moment."""
        return bool(self._tasks or self._to_look_at or self._looker or self._next_moment)

    def _state(self, company_id: int) -> CompanyState:
        return self._states.setdefault(company_id, CompanyState())

    async def _look_at_all(self) -> None:
        try:
            while self._to_look_at:
                await asyncio.sleep(MOMENT_SECONDS if self._pace.is_busy else LOOK_AFTER_SECONDS)
                found, self._to_look_at = self._to_look_at, {}
                for company_id in found:
                    await self._try_to_look_at(company_id)
        finally:
            self._looker = None

    async def _try_to_look_at(self, company_id: int) -> None:
        try:
            await self._look_at(company_id)
        except Problem:
            self._look_again(company_id, UNAVAILABLE_SECONDS)  # its file cannot be used, and the log says why
        except sqlite3.Error as error:
            LOG.error("webhooks of company %d: %s; looking again soon", company_id, error)
            self._look_again(company_id, AGAIN_SECONDS)
        except Exception:
            LOG.exception("webhooks of company %d cannot be looked at; looking again soon", company_id)
            self._look_again(company_id, AGAIN_SECONDS)

    def _look_again(self, company_id: int, seconds: float) -> None:
        self._state(company_id).next_due = _milliseconds(self._clock) + int(seconds * 1000)

    async def _look_at(self, company_id: int) -> None:
        company = (await self._companies()).get(company_id)
        if company is None:
            return
        database = await self._files.get(company_id)
        state = self._state(company_id)
        if company_id in self._to_clamp:
            self._to_clamp.discard(company_id)
            try:
                await database.write(deliveries.clamp)
            except BaseException:
                self._to_clamp.add(company_id)
                raise
        ready = [subscription_id for subscription_id, feed in state.feeds.items() if feed.ready]
        look, switched_off, targets = await database.read(partial(_look, ready=ready))
        for target in targets:
            state.feeds[target.subscription_id].take(target, (), self._vault)
        await self._tell_switched_off(company, database, state, switched_off)
        state.next_due = look.next_due
        because = off_because(company)
        if because is not None:
            for feed in state.feeds.values():
                feed.drop()
            if look.due_now:
                await self._skip_all(database, because)
            return
        for subscription_id in state.feeds.keys() - set(look.due_now):
            state.feeds[subscription_id].drop()  # switched off or deleted, or the clock was set back
        for subscription_id in look.due_now:
            feed = state.feeds.setdefault(subscription_id, Feed(company_id, subscription_id))
            feed.may_have_more = True
            self._fill(feed)

    async def _skip_all(self, database: Database, because: str) -> None:
        skipped = 1
        while skipped:
            skipped = await database.write(lambda tx: deliveries.skip_all(tx, because))

    async def _tell_switched_off(
        self, company: Company, database: Database, state: CompanyState, found: list[SwitchedOff]
    ) -> None:
        state.switched_off = len(found)
        new = [each for each in found if not each.is_audited]
        for each in new:
            LOG.warning("webhook %s of %s is switched off: %s", each.name, company.code, each.because)
            await self._audit(f"webhook.switch_off {each.because}", f"{company.code} {each.name}")
        if new:
            await database.write(lambda tx: deliveries.note_audited(tx, [each.id for each in new]))

    # --- loading and sending ------------------------------------------------------------------------------------

    def _fill(self, feed: Feed) -> None:
        if feed.wants_more:
            feed.is_loading = True
            self._spawn(self._load(feed))

    async def _load(self, feed: Feed) -> None:
        """What is due next of a subscription; bodies are large, so only as many as can be sent soon."""
        taken, limit = list(feed.taken), 4 * feed.allowed

        def read(tx: Transaction) -> tuple[Target | None, list[Due]]:
            target = deliveries.target(tx, feed.subscription_id)
            if target is None or not target.active:
                return None, []
            return target, deliveries.due(tx, feed.subscription_id, taken, limit)

        try:
            feed.may_have_more = False  # a look may find more while this reads
            database = await self._files.get(feed.company_id)
            target, found = await database.read(read)
            feed.may_have_more |= target is not None and len(found) >= limit
            if target is not None:
                lost = [due.id for due in found if due.body is None]
                if lost:
                    because = "Its event is no longer kept."
                    await database.write(lambda tx: deliveries.skip(tx, lost, because))
                feed.take(target, (due for due in found if due.body is not None), self._vault)
        except (Problem, sqlite3.Error) as error:
            LOG.error("webhooks of company %d cannot be loaded: %s", feed.company_id, error)
            self._look_again(feed.company_id, AGAIN_SECONDS)
        finally:
            feed.loaded()
        self._fill(feed)
        self._make_runnable(feed)
        self._dispatch()

    def _make_runnable(self, feed: Feed) -> None:
        if feed.can_send and not feed.is_runnable:
            feed.is_runnable = True
            self._runnable[feed.is_proven].append(feed)

    def _dispatch(self) -> None:
        """Begins what may begin: in turn, one of each subscription."""
        for is_proven, runnable in self._runnable.items():
            waiting: list[Feed] = []
            while runnable and self._is_running and self._pace.may_begin(is_proven):
                feed = runnable.popleft()
                feed.is_runnable = False
                if feed.can_send:
                    if self._begin(feed):
                        self._pace.begin(is_proven)
                    else:
                        waiting.append(feed)
            if runnable:
                self._go_on_later()
            for feed in waiting:
                self._make_runnable(feed)

    def _begin(self, feed: Feed) -> bool:
        """Whether there was room for one more."""
        assert feed.target is not None
        is_proven, host = feed.is_proven, feed.target.host
        unwritten = self._state(feed.company_id).unwritten
        if len(unwritten) >= MOST_UNWRITTEN or not self._slots.take(is_proven, feed.company_id, host):
            return False
        due = feed.ready.popleft()
        feed.in_flight += 1
        task = self._spawn(self._send(feed, due, is_proven, host))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
        self._make_runnable(feed)
        return True

    def _go_on_later(self) -> None:
        if self._next_moment is None and self._is_running:
            self._next_moment = asyncio.get_running_loop().call_later(MOMENT_SECONDS, self._go_on)

    def _go_on(self) -> None:
        self._next_moment = None
        self._dispatch()

    async def _send(self, feed: Feed, due: Due, is_proven: bool, host: str) -> None:
        result: Result | None = None
        try:
            company = (await self._companies()).get(feed.company_id)
            if company is not None and off_because(company) is None and feed.target is not None:
                result = await attempt(self._client, self._clock, feed.target, due, company.sandbox)
                self._tell_change(company, feed, result)
                feed.succeeded() if result.is_success else feed.failed()
                if result.status == GONE:
                    feed.drop()
                self._note(feed.company_id, result)
            else:
                self.committed(feed.company_id)
        except Exception:
            LOG.exception("webhooks of company %d cannot be sent; trying again soon", feed.company_id)
            self._look_again(feed.company_id, AGAIN_SECONDS)
        finally:
            self._slots.give_back(is_proven, feed.company_id, host)
            feed.in_flight -= 1
            if result is None:
                feed.taken.discard(due.id)  # cut off, or not to be sent now: it is due as before
                feed.drop()  # until the next look
        self._fill(feed)
        self._make_runnable(feed)
        self._dispatch()

    def _tell_change(self, company: Company, feed: Feed, result: Result) -> None:
        """The first failure, and the first success after it; what lies between stands in the delivery log."""
        name = f"webhook {feed.subscription_id} of {company.code}"
        now = self._clock.monotonic()
        if result.is_success and feed.is_told_to_fail:
            feed.is_told_to_fail = False
            LOG.info("%s is delivered again", name)
        elif not result.is_success and not feed.is_told_to_fail and now >= feed.silent_until:
            feed.is_told_to_fail, feed.silent_until = True, now + SILENT_SECONDS
            LOG.warning("%s fails: %s", name, result.error or f"it was answered {result.status}")

    # --- writing down what came of it ---------------------------------------------------------------------------

    def _note(self, company_id: int, result: Result) -> None:
        state = self._state(company_id)
        state.unwritten.append(result)
        if not state.is_writing:
            state.is_writing = True
            self._spawn(self._write_down(company_id, state))

    async def _write_down(self, company_id: int, state: CompanyState) -> None:
        """In groups: what comes back while one is written is the next."""
        try:
            while state.unwritten:
                results = list(state.unwritten)
                try:
                    database = await self._files.get(company_id)
                    await database.write(partial(deliveries.record, results=results))
                except (Problem, sqlite3.Error) as error:
                    LOG.error("what was sent for company %d cannot be written down yet: %s", company_id, error)
                    await asyncio.sleep(AGAIN_SECONDS)
                    continue
                del state.unwritten[: len(results)]
                self._written(state, results)
        finally:
            state.is_writing = False

    def _written(self, state: CompanyState, results: list[Result]) -> None:
        for result in results:
            feed = state.feeds.get(result.subscription_id)
            if feed is not None:
                feed.written(result.delivery_id)
                self._fill(feed)
        self._dispatch()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop(self) -> None:
        """Waits a moment for what is under way; what is cut off is due again at the next start."""
        self._is_running = False
        for runnable in self._runnable.values():
            runnable.clear()
        if self._next_moment is not None:
            self._next_moment.cancel()
        if self._looker is not None:
            self._looker.cancel()
        await self._wait_for_all(STOP_SECONDS)
        for task in self._sending:
            task.cancel()
        await self._wait_for_all(STOP_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _wait_for_all(self, seconds: float) -> None:
        """Also for what begins meanwhile, such as writing down what came back."""
        until = time.monotonic() + seconds
        while self._tasks and time.monotonic() < until:
            await asyncio.wait(self._tasks, timeout=until - time.monotonic(), return_when=asyncio.FIRST_COMPLETED)


def _look(tx: Transaction, ready: list[int]) -> tuple[Look, list[SwitchedOff], list[Target]]:
    """What is due when, what is switched off, and where that is to go now which is ready to be sent."""
    targets = [target for each in ready if (target := deliveries.target(tx, each)) is not None]
    return deliveries.look(tx), deliveries.switched_off(tx), targets


def _milliseconds(clock: Clock) -> int:
    return timestamps.microseconds(clock.now()) // 1000
