"""Sends due deliveries. All lasting data is in the companies' files. Data in memory may be lost at any moment.

The path of a delivery: after a commit, or when a delivery becomes due, the company's file is scanned (`_scan`). A
subscription with due deliveries gets tasks, as many as its limit of attempts allows (`_wake`, `_send`). Each task
takes the next delivery when the limits and the throttle allow it (`_next`), and makes an attempt (`_deliver`). The
result goes to the task that records the results of the company (`_record`). A delivery whose result was not
recorded is due again. Every event is therefore sent at least once.
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
CANNOT_SEND: Final = "webhooks of company {} cannot be sent; wmsd will try again soon"


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
            self._complaints.failed("a background task of the webhook sender failed", error)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()

    async def wait(self, seconds: float) -> None:
        """Wait for all tasks, including tasks that start in the meantime, but for at most `seconds`."""
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
        """Create the sender. `answered` returns the number of requests that the server has answered."""
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
        """The queues by company and subscription."""
        self._scanning, self._sending, self._recording = Tasks(), Tasks(), Tasks()
        self._is_running = False

    # --- start and stop -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        self._is_running = True
        self._scanning.spawn(self._scan())
        await self._scanner.start()

    def committed(self, company_id: int) -> None:
        """Request a scan, because something was written to the company's file."""
        if self._is_running:
            self._scanner.want(company_id)

    async def tick(self) -> None:
        """Request scans for deliveries that have become due, and for writes of another process. APScheduler calls
        this.
        """
        if self._is_running:
            if not self._scanning:
                self._scanning.spawn(self._scan())  # restarts the scan if its task has failed
            await self._scanner.tick()

    async def stop(self) -> None:
        """Stop the sender. Wait a few seconds for running attempts, and cancel those that still run. Cancelled
        deliveries are due again at the next start.
        """
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
        """Return True if no attempt of the company is running, and all its results are recorded."""
        queues = self._queues.get(company_id, {}).values()
        return not self._recorder.is_recording(company_id) and not any(queue.in_flight for queue in queues)

    @property
    def switched_off(self) -> int:
        """The number of subscriptions that the service itself has switched off."""
        return self._scanner.switched_off

    # --- the path of a delivery ---------------------------------------------------------------------------------

    async def _scan(self) -> None:
        """Find due deliveries in all companies' files and start to send them. One task runs this forever."""
        async for scan in self._scanner.scans():
            with self._trying(scan.company_id, CANNOT_SEND):
                queues = self._queues.setdefault(scan.company_id, {})
                for queue in update_queues(queues, scan, self._vault):
                    if queue.receiver.credentials is None:
                        self._sending.spawn(self._have_wait(queue))
                    else:
                        self._wake(queue)

    async def _have_wait(self, queue: SubscriptionQueue) -> None:
        """Store that the credentials of the subscription cannot be opened, and stop sending. Its deliveries are
        not due until the credentials are set again.
        """
        with self._trying(queue.company_id, CANNOT_SEND, queue):
            queue.drop()
            target = queue.receiver.target
            database = await self._files.get(queue.company_id)
            await database.write(
                lambda tx: missing_credentials.note(tx, target.subscription_id, target.url, target.credentials)
            )
            self._scanner.want(queue.company_id)

    def _wake(self, queue: SubscriptionQueue) -> None:
        """Start sending for a subscription that may have due deliveries."""
        queue.may_have_more = True
        self._send_more(queue)

    def _send_more(self, queue: SubscriptionQueue) -> None:
        """Start another task of the subscription, if one more attempt may run and no task is already waiting."""
        if self._is_running and queue.has_next and queue.waiting is None:
            self._sending.spawn(self._send(queue))

    async def _send(self, queue: SubscriptionQueue) -> None:
        """Send the deliveries of the subscription one by one, until there are none. Each task of a subscription
        runs this.
        """
        with self._trying(queue.company_id, CANNOT_SEND, queue), closing(Slot()) as slot:
            while (due := await self._next(queue, slot)) is not None:
                try:
                    self._send_more(queue)
                    await self._deliver(queue, due, slot)
                except BaseException:
                    queue.give_back(due)
                    raise

    async def _next(self, queue: SubscriptionQueue, slot: Slot) -> Due | None:
        """Wait until one more attempt may begin, and return its delivery. Return None if there is no delivery, or
        if another task of the subscription already waits.
        """
        if queue.waiting is not None:
            return None
        queue.waiting = asyncio.current_task()
        try:
            while queue.has_next and self._is_running:
                await self._recorder.catch_up(queue.company_id)
                if not queue.ready:
                    await self._load(queue)
                    continue
                if queue.receiver.credentials is None:  # a restore has replaced the credentials in the meantime
                    queue.drop()
                    self._scanner.want(queue.company_id)
                    return None
                lane = queue.lane
                await self._limits.take(slot, lane)
                await self._throttle.turn(lane.is_reliable)
                if queue.may_begin(lane):
                    return queue.begin()
                slot.close()
            return None
        finally:
            queue.waiting = None

    async def _load(self, queue: SubscriptionQueue) -> None:
        with self._trying(queue.company_id, CANNOT_LOAD, queue):
            async with asyncio.timeout(LONGEST_SECONDS):
                database = await self._files.get(queue.company_id)
                await queue.load(database, page_budget(self._queues[queue.company_id].values()))
            self._complaints.over(CANNOT_LOAD.format(queue.company_id))

    async def _deliver(self, queue: SubscriptionQueue, due: Due, slot: Slot) -> None:
        """Send one delivery, release its slot, and give the result to the recorder."""
        with closing(slot):
            company = (await self._companies()).get(queue.company_id)
            if company is None or company.sends_nothing or off_because(company) is not None:
                queue.give_back(due)
                self._scanner.want(queue.company_id)  # the scan skips or delays the delivery
                return
            file = partial(self._files.get, company.id)
            result = await attempt(self._client, self._clock, file, company, queue.receiver, due)
        queue.answered(due, result)
        queue.log_change(company.code, result, self._clock)
        if not self._recorder.is_recording(company.id):
            self._recording.spawn(self._record(company.id))
        self._recorder.add(company.id, result)

    async def _record(self, company_id: int) -> None:
        """Record the results of a company until there are no more. Only one task per company runs this."""
        async for group, released in self._recorder.groups(company_id):
            with self._trying(company_id, CANNOT_SEND):
                queues = self._queues[company_id]
                for result in group:
                    queues[result.subscription_id].recorded(result.delivery_id)
                for subscription_id in released:
                    self._wake(queues[subscription_id])  # for the deliveries that were held behind this one
                self._complaints.over(CANNOT_SEND.format(company_id))

    @contextmanager
    def _trying(self, company_id: int, what: str, queue: SubscriptionQueue | None = None) -> Iterator[None]:
        """If the block raises an error, log the error with the message `what`, empty the queue, and request
        another scan.
        """
        try:
            yield
        except Exception as error:
            if queue is not None:
                queue.drop()
            self._scanner.again(company_id)
            self._complaints.failed(what.format(company_id), error)
