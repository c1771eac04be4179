"""Begins the attempts that may begin: in turn, one of each subscription, as many as slots and pace allow."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.complaints import Complaints
from wmsd.base.context import Company
from wmsd.db.failures import STORAGE_FAILURES
from wmsd.webhooks.attempt import attempt
from wmsd.webhooks.deliveries import Due
from wmsd.webhooks.feed import Feed
from wmsd.webhooks.lazy_client import LazyClient
from wmsd.webhooks.lookout import Companies
from wmsd.webhooks.pace import MOMENT_SECONDS, Pace
from wmsd.webhooks.results import Result
from wmsd.webhooks.rules import GONE, off_because
from wmsd.webhooks.slots import Slots
from wmsd.webhooks.tasks import Tasks

LOG = logging.getLogger("wmsd.webhooks")
SILENT_SECONDS: Final = 3600.0
"""Between two lines in the log that tell of one subscription's failing."""


class Sending(NamedTuple):
    """A delivery that has its slot."""

    feed: Feed
    due: Due
    is_proven: bool
    host: str


class Dispatcher:
    def __init__(
        self,
        *,
        companies: Companies,
        client: LazyClient,
        clock: Clock,
        pace: Pace,
        is_held_up: Callable[[int], bool],
        done: Callable[[Feed, Result], None],
        failed: Callable[[int], None],
        refused: Callable[[int], None],
    ) -> None:
        """`is_held_up`: whether a company's attempts must wait. `done` is told of each attempt; `failed` and
        `refused` of the company, when one could not be made, or must not be made now.
        """
        self._companies = companies
        self._client = client
        self._clock = clock
        self._pace = pace
        self._is_held_up = is_held_up
        self._done = done
        self._failed = failed
        self._refused = refused
        self._runnable: dict[bool, deque[Feed]] = {True: deque(), False: deque()}
        """By whether the receiver has just answered."""
        self._slots = Slots()
        self._next_moment: asyncio.TimerHandle | None = None
        self._is_running = False
        self._complaints = Complaints(LOG, STORAGE_FAILURES)
        self.tasks = Tasks()

    @property
    def is_waiting(self) -> bool:
        """For the moment in which more may begin."""
        return self._next_moment is not None

    def offer(self, feed: Feed) -> None:
        """It may have something to send."""
        self._make_runnable(feed)
        self.dispatch()

    def dispatch(self) -> None:
        """Begins what may begin."""
        while (sending := self._next()) is not None:
            try:
                self.tasks.spawn(self._work(sending))
            except Exception as error:
                self._end(sending, is_over=False)
                self._tell_failure(sending.feed, error)

    def start(self) -> None:
        self._is_running = True

    def stop(self) -> None:
        """Begins nothing more."""
        self._is_running = False
        if self._next_moment is not None:
            self._next_moment.cancel()
            self._next_moment = None

    # --- what is next -------------------------------------------------------------------------------------------

    def _make_runnable(self, feed: Feed) -> None:
        if feed.can_send and not feed.is_runnable:
            feed.is_runnable = True
            self._runnable[feed.is_proven].append(feed)

    def _next(self) -> Sending | None:
        """What may begin now, with its slot; those whose receiver has just answered first."""
        return self._next_of(is_proven=True) or self._next_of(is_proven=False)

    def _next_of(self, is_proven: bool) -> Sending | None:
        runnable = self._runnable[is_proven]
        sending: Sending | None = None
        waiting: list[Feed] = []
        while runnable and sending is None and self._is_running and self._pace.may_begin(is_proven):
            feed = runnable.popleft()
            feed.is_runnable = False
            if feed.can_send:
                sending = self._begin(feed)
                if sending is None:
                    waiting.append(feed)
        if runnable and sending is None:
            self._go_on_later()
        for feed in waiting:
            self._make_runnable(feed)
        return sending

    def _begin(self, feed: Feed) -> Sending | None:
        """None when there is no room for one more."""
        assert feed.target is not None
        is_proven, host = feed.is_proven, feed.target.host
        if self._is_held_up(feed.company_id) or not self._slots.take(is_proven, feed.company_id, host):
            return None
        feed.in_flight += 1
        self._pace.begin(is_proven)
        sending = Sending(feed, feed.next(), is_proven, host)
        self._make_runnable(feed)
        return sending

    def _go_on_later(self) -> None:
        if self._next_moment is None and self._is_running:
            self._next_moment = asyncio.get_running_loop().call_later(MOMENT_SECONDS, self._go_on)

    def _go_on(self) -> None:
        self._next_moment = None
        self.dispatch()

    # --- sending it ---------------------------------------------------------------------------------------------

    async def _work(self, sending: Sending | None) -> None:
        """One after the other, as long as there is something that may begin."""
        while sending is not None:
            feed = sending.feed
            try:
                await self._send(sending)
            except Exception as error:
                self._tell_failure(feed, error)
            self._make_runnable(feed)
            sending = self._next()
            if any(self._runnable.values()):
                self.dispatch()

    async def _send(self, sending: Sending) -> None:
        """What was not sent is due as before."""
        feed, is_over = sending.feed, False
        try:
            company = (await self._companies()).get(feed.company_id)
            if company is not None and off_because(company) is None and feed.target is not None:
                result = await attempt(
                    self._client, self._clock, feed.target, sending.due, company.sandbox, company.id
                )
                self._judge(company, feed, result)
                self._done(feed, result)
                is_over = True
            else:
                self._refused(feed.company_id)
            self._complaints.over(_cannot_be_sent(feed))
        finally:
            self._end(sending, is_over)

    def _end(self, sending: Sending, is_over: bool) -> None:
        feed = sending.feed
        self._slots.give_back(sending.is_proven, feed.company_id, sending.host)
        feed.in_flight -= 1
        if not is_over:
            feed.taken.discard(sending.due.id)  # cut off, or not to be sent now
            feed.drop()  # until the next look

    def _tell_failure(self, feed: Feed, error: Exception) -> None:
        self._failed(feed.company_id)
        self._complaints.failed(_cannot_be_sent(feed), error)

    def _judge(self, company: Company, feed: Feed, result: Result) -> None:
        self._tell_change(company, feed, result)
        feed.succeeded() if result.is_success else feed.failed()
        if result.status == GONE:
            feed.drop()

    def _tell_change(self, company: Company, feed: Feed, result: Result) -> None:
        """The first failure, and the first success after it; what lies between stands in the delivery log."""
        if result.is_success and not feed.is_told_to_fail:
            return
        name = f"webhook {feed.subscription_id} of {company.code}"
        now = self._clock.monotonic()
        if result.is_success:
            feed.is_told_to_fail = False
            LOG.info("%s is delivered again", name)
        elif not feed.is_told_to_fail and now >= feed.silent_until:
            feed.is_told_to_fail, feed.silent_until = True, now + SILENT_SECONDS
            LOG.warning("%s fails: %s", name, result.error or f"it was answered {result.status}")


def _cannot_be_sent(feed: Feed) -> str:
    return f"webhooks of company {feed.company_id} cannot be sent; they are tried again soon"
