"""Sends what is due. Everything that counts is a row; what stands here in memory may be lost at any moment.

The way of a delivery: after a commit, or when something comes due, the company's file is scanned (`_scan`). A
subscription that has something due gets a task (`_wake`). It loads what is due in pages, and begins one delivery
after the other as the limits and the throttle allow (`_send`). Each delivery has a task too, which makes an
attempt and records the result in the company's file (`_deliver`). What was not recorded is due again: at least
once, always.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.complaints import Complaints
from wmsd.base.vault import Vault
from wmsd.db.company_files import CompanyFiles
from wmsd.db.failures import STORAGE_FAILURES
from wmsd.webhooks.attempt import attempt
from wmsd.webhooks.concurrency_limits import ConcurrencyLimits, Slot
from wmsd.webhooks.deliveries import Due
from wmsd.webhooks.due_scanner import LONGEST_SECONDS, Audit, Companies, DueScanner
from wmsd.webhooks.lazy_client import LazyClient
from wmsd.webhooks.recorder import Recorder
from wmsd.webhooks.rules import off_because
from wmsd.webhooks.subscription_queue import SubscriptionQueue, page_budget, update_queues
from wmsd.webhooks.tasks import Tasks
from wmsd.webhooks.throttle import Throttle

LOG = logging.getLogger("wmsd.webhooks")
STOP_SECONDS: Final = 3.0
CANNOT_LOAD: Final = "webhooks of company {} cannot be loaded"
CANNOT_SEND: Final = "webhooks of company {} cannot be sent; they are tried again soon"


class Sender:
    def __init__(
        self,
        *,
        files: CompanyFiles,
        companies: Companies,
        audit: Audit,
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
        self._recorder = Recorder(files)
        self._scanner = DueScanner(
            files=files, companies=companies, audit=audit, clock=clock, throttle=self._throttle
        )
        self._queues: dict[int, dict[int, SubscriptionQueue]] = {}
        """By company and subscription."""
        self._scanning, self._sending, self._deliveries = Tasks(), Tasks(), Tasks()
        self._is_running = False
        self._complaints = Complaints(LOG, STORAGE_FAILURES)

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
        for begun in (self._scanning, self._sending):
            begun.cancel()
            await begun.wait(STOP_SECONDS)
        for under_way in (self._deliveries, self._recorder.tasks):
            await under_way.wait(STOP_SECONDS)
            under_way.cancel()
            await under_way.wait(STOP_SECONDS)
        self._queues.clear()

    @property
    def switched_off(self) -> int:
        """How many subscriptions the service itself has switched off."""
        return self._scanner.switched_off

    @property
    def under_way(self) -> int:
        """How many deliveries wait for their receivers, or for being written down."""
        return len(self._deliveries)

    @property
    def is_busy(self) -> bool:
        """Whether, besides, anything is scanned, loaded or written down, or waits for its moment."""
        queues = (queue for queues in self._queues.values() for queue in queues.values())
        moving = sum(queue.is_running and queue.has_room for queue in queues)
        is_moving = moving > self._limits.waiting or self._throttle.is_waited_for
        return self._scanner.is_busy or is_moving or bool(self._recorder.tasks)

    # --- the way of a delivery ----------------------------------------------------------------------------------

    async def _scan(self) -> None:
        """The one task that finds what is due."""
        async for scan in self._scanner.scans():
            with self._trying(scan.company_id, CANNOT_SEND):
                queues = self._queues.setdefault(scan.company_id, {})
                for queue in update_queues(queues, scan, self._vault):
                    self._wake(queue)

    def _wake(self, queue: SubscriptionQueue) -> None:
        """Something of the subscription may be due: it has a task from here on."""
        queue.may_have_more = True
        if self._is_running and not queue.is_running:
            self._sending.spawn(self._send(queue))
            queue.is_running = True

    async def _send(self, queue: SubscriptionQueue) -> None:
        """The task of a subscription: begins what is due, one after the other, until nothing is."""
        try:
            while queue.ready or queue.may_have_more:
                await queue.wait_for_room()
                await self._recorder.catch_up(queue.company_id)
                if queue.ready:
                    await self._begin(queue)
                elif queue.may_have_more:
                    await self._load(queue)
        finally:
            queue.is_running = False

    async def _load(self, queue: SubscriptionQueue) -> None:
        """The next page of what is due."""
        with self._trying(queue.company_id, CANNOT_LOAD, queue):
            async with asyncio.timeout(LONGEST_SECONDS):
                database = await self._files.get(queue.company_id)
                await queue.load(database, page_budget(self._queues[queue.company_id].values()))
            self._succeeded(queue.company_id, CANNOT_LOAD)

    async def _begin(self, queue: SubscriptionQueue) -> None:
        """Waits for a slot and for its turn, and gives both to the first delivery that is ready then."""
        lane = queue.lane
        with self._trying(queue.company_id, CANNOT_SEND, queue), await self._limits.slot(lane) as slot:
            await self._throttle.turn(lane.is_proven)
            if queue.may_begin(lane):
                its_slot = Slot()
                self._deliveries.spawn(self._deliver(queue, queue.ready[0], its_slot))
                queue.begin()  # after it: where there can be no task, nothing was taken
                its_slot.take_over(slot)

    async def _deliver(self, queue: SubscriptionQueue, due: Due, slot: Slot) -> None:
        """One delivery, from its slot to its recorded result."""
        with self._trying(queue.company_id, CANNOT_SEND, queue), queue.sending(due):
            with slot:
                company = (await self._companies()).get(queue.company_id)
                if company is None or off_because(company) is not None:
                    queue.drop()
                    self._scanner.want(queue.company_id)  # which skips it
                    return
                result = await attempt(self._client, self._clock, queue.receiver, due, company.sandbox, company.id)
            self._succeeded(company.id, CANNOT_SEND)
            queue.answered(due, result)
            queue.tell_change(company.code, result, self._clock.monotonic())
            if await self._recorder.record(company.id, result):
                self._wake(queue)  # for what was held behind it

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

    def _succeeded(self, company_id: int, what: str) -> None:
        self._complaints.over(what.format(company_id))
