"""Sends what is due. Everything that counts is a row; what stands here in memory may be lost at any moment.

The way of a delivery: after a commit, or when something comes due, the company's file is scanned (`_scan`). A
subscription that has something due gets tasks, as many as it may have under way (`_wake`, `_send`). Each takes the
next delivery when the limits and the throttle allow (`_next`), makes an attempt (`_deliver`), and hands the result
to the task that records those of the company (`_record`). What was not recorded is due again: at least once,
always.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, Final

from wmsd.base.clock import Clock
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.base.vault import Vault
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.files.company_files import CompanyFiles
from wmsd.events.webhooks import missing_credentials
from wmsd.events.webhooks.deliveries.due_store import Due
from wmsd.events.webhooks.rules import off_because
from wmsd.events.webhooks.sending.attempt import attempt
from wmsd.events.webhooks.sending.due_scanner import (
    LONGEST_SECONDS,
    Audit,
    Companies,
    DueScanner,
    TellMissing,
)
from wmsd.events.webhooks.sending.recorder import Recorder
from wmsd.events.webhooks.sending.subscription_queue import SubscriptionQueue, page_budget, update_queues
from wmsd.events.webhooks.sending.throttle import ConcurrencyLimits, Slot, Throttle
from wmsd.http_client.lazy_client import LazyClient

LOG = logging.getLogger("wmsd.webhooks")
STOP_SECONDS: Final = 3.0
CANNOT_LOAD: Final = "webhooks of company {} cannot be loaded"
CANNOT_SEND: Final = "webhooks of company {} cannot be sent; they are tried again soon"


class Tasks:
    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()
        self._complaints = RepeatedFailures(LOG)

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._complaints.failed("a background task of the sender failed", error)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()

    async def wait(self, seconds: float) -> None:
        """Waits for all of them, also for those that begin meanwhile, but no longer than that."""
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            await asyncio.wait(
                self._running, timeout=until - time.monotonic(), return_when=asyncio.FIRST_COMPLETED
            )


class Sender:
    def __init__(
        self,
        *,
        files: CompanyFiles,
        companies: Companies,
        audit: Audit,
        tell_missing: TellMissing,
        client: LazyClient,
        vault: Vault,
        clock: Clock,
        answered: Callable[[], int],
    ) -> None:
        """`answered`: how many requests there have been."""
        self._files = files
        self._companies = companies
        self._client = client
        self._vault = vault
        self._clock = clock
        self._throttle = Throttle(answered)
        self._limits = ConcurrencyLimits()
        self._complaints = RepeatedFailures(LOG, STORAGE_FAILURES)
        self._recorder = Recorder(files, self._complaints)
        self._scanner = DueScanner(
            files=files,
            companies=companies,
            audit=audit,
            tell_missing=tell_missing,
            clock=clock,
            throttle=self._throttle,
        )
        self._queues: dict[int, dict[int, SubscriptionQueue]] = {}
        """By company and subscription."""
        self._scanning, self._sending, self._recording = Tasks(), Tasks(), Tasks()
        self._is_running = False

    # --- its life -----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._is_running = True
        self._scanning.spawn(self._scan())
        await self._scanner.start()

    def committed(self, company_id: int) -> None:
        """Something was written to the company's file."""
        if self._is_running:
            self._scanner.want(company_id)

    async def tick(self) -> None:
        """Finds what has come due, and what another process has written. APScheduler calls it."""
        if self._is_running:
            if not self._scanning:
                self._scanning.spawn(self._scan())  # should it have failed
            await self._scanner.tick()

    async def stop(self) -> None:
        """Waits a moment for what is under way; what is cut off is due again at the next start."""
        self._is_running = False
        self._scanning.cancel()
        for queues in self._queues.values():
            for queue in queues.values():
                queue.stop_waiting()
        for tasks in (self._scanning, self._sending, self._recording):
            await tasks.wait(STOP_SECONDS)
            tasks.cancel()
            await tasks.wait(STOP_SECONDS)
        self._queues.clear()

    def is_at_rest(self, company_id: int) -> bool:
        """Whether nothing of the company is under way, and everything that was sent is written down."""
        queues = self._queues.get(company_id, {}).values()
        return not self._recorder.is_recording(company_id) and not any(queue.in_flight for queue in queues)

    @property
    def switched_off(self) -> int:
        """How many subscriptions the service itself has switched off."""
        return self._scanner.switched_off

    # --- the way of a delivery ----------------------------------------------------------------------------------

    async def _scan(self) -> None:
        """The one task that finds what is due."""
        async for scan in self._scanner.scans():
            with self._trying(scan.company_id, CANNOT_SEND):
                queues = self._queues.setdefault(scan.company_id, {})
                for queue in update_queues(queues, scan, self._vault):
                    if queue.receiver.credentials is None:
                        self._sending.spawn(self._have_wait(queue))
                    else:
                        self._wake(queue)

    async def _have_wait(self, queue: SubscriptionQueue) -> None:
        """Its credentials cannot be opened: nothing of it is due until they are set again."""
        with self._trying(queue.company_id, CANNOT_SEND, queue):
            queue.drop()
            target = queue.receiver.target
            database = await self._files.get(queue.company_id)
            await database.write(
                lambda tx: missing_credentials.note(tx, target.subscription_id, target.url, target.credentials)
            )
            self._scanner.want(queue.company_id)

    def _wake(self, queue: SubscriptionQueue) -> None:
        """Something of the subscription may be due."""
        queue.may_have_more = True
        self._send_more(queue)

    def _send_more(self, queue: SubscriptionQueue) -> None:
        """Another task of the subscription, if the receiver may have more and no task waits to send it."""
        if self._is_running and queue.has_next and queue.waiting is None:
            self._sending.spawn(self._send(queue))

    async def _send(self, queue: SubscriptionQueue) -> None:
        """A task of a subscription: sends one delivery after the other, as long as there are some."""
        with self._trying(queue.company_id, CANNOT_SEND, queue), closing(Slot()) as slot:
            while (due := await self._next(queue, slot)) is not None:
                try:
                    self._send_more(queue)
                    await self._deliver(queue, due, slot)
                except BaseException:
                    queue.give_back(due)
                    raise

    async def _next(self, queue: SubscriptionQueue, slot: Slot) -> Due | None:
        """Waits until one more may begin: of a subscription's tasks one at a time, the others end meanwhile."""
        if queue.waiting is not None:
            return None
        queue.waiting = asyncio.current_task()
        try:
            while queue.has_next and self._is_running:
                await self._recorder.catch_up(queue.company_id)
                if not queue.ready:
                    await self._load(queue)
                    continue
                if queue.receiver.credentials is None:  # a restore has put other ones in their place meanwhile
                    queue.drop()
                    self._scanner.want(queue.company_id)
                    return None
                lane = queue.lane
                await self._limits.take(slot, lane)
                await self._throttle.turn(lane.is_proven)
                if queue.may_begin(lane):
                    return queue.begin()
                slot.close()
            return None
        finally:
            queue.waiting = None

    async def _load(self, queue: SubscriptionQueue) -> None:
        """The next page of what is due."""
        with self._trying(queue.company_id, CANNOT_LOAD, queue):
            async with asyncio.timeout(LONGEST_SECONDS):
                database = await self._files.get(queue.company_id)
                await queue.load(database, page_budget(self._queues[queue.company_id].values()))
            self._complaints.over(CANNOT_LOAD.format(queue.company_id))

    async def _deliver(self, queue: SubscriptionQueue, due: Due, slot: Slot) -> None:
        """One delivery, from its slot to its result, which is handed on to be recorded."""
        with closing(slot):
            company = (await self._companies()).get(queue.company_id)
            if company is None or company.sends_nothing or off_because(company) is not None:
                queue.give_back(due)
                self._scanner.want(queue.company_id)  # which skips it, or waits for the end of the freeze
                return
            file = partial(self._files.get, company.id)
            result = await attempt(self._client, self._clock, file, company, queue.receiver, due)
        queue.answered(due, result)
        queue.tell_change(company.code, result, self._clock)
        if not self._recorder.is_recording(company.id):
            self._recording.spawn(self._record(company.id))
        self._recorder.add(company.id, result)

    async def _record(self, company_id: int) -> None:
        """The one task of a company that records results, as long as there are some."""
        async for group, released in self._recorder.groups(company_id):
            with self._trying(company_id, CANNOT_SEND):
                queues = self._queues[company_id]
                for result in group:
                    queues[result.subscription_id].recorded(result.delivery_id)
                for subscription_id in released:
                    self._wake(queues[subscription_id])  # for what was held behind it
                self._complaints.over(CANNOT_SEND.format(company_id))

    @contextmanager
    def _trying(self, company_id: int, what: str, queue: SubscriptionQueue | None = None) -> Iterator[None]:
        """Tells what fails. The next scan, which comes soon, has it tried again; until then the queue is empty."""
        try:
            yield
        except Exception as error:
            if queue is not None:
                queue.drop()
            self._scanner.again(company_id)
            self._complaints.failed(what.format(company_id), error)
