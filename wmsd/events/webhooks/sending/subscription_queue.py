"""What a subscription is to be sent, as the sender has it in memory; what counts stands in the company's file."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import field
from functools import partial
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.vault import Vault
from wmsd.db.engine.database import Database
from wmsd.events.webhooks.deliveries import due_store
from wmsd.events.webhooks.deliveries.due_store import Due, Target
from wmsd.events.webhooks.deliveries.results_store import Result
from wmsd.events.webhooks.rules import GONE
from wmsd.events.webhooks.sending.attempt import Receiver, open_receiver
from wmsd.events.webhooks.sending.due_scanner import Scan
from wmsd.events.webhooks.sending.throttle import PER_SUBSCRIPTION, Lane

LOG = logging.getLogger("wmsd.webhooks")
PAGE: Final = 16
"""A page is so many times what may be under way: each costs about what fifty deliveries in it do."""
LARGEST_PAGE: Final = 262_144
LARGEST_OF_COMPANY: Final = 16_777_216
"""Characters of bodies that are ready, of a subscription and of a company; beyond it each has one at a time."""
SILENT_SECONDS: Final = 3600.0
"""Between two lines in the log that tell of one subscription's failing."""


@dataclass(slots=True, eq=False, repr=False)
class SubscriptionQueue:
    """`allowed`: how many may be under way. It grows by one with each success, and is one after a failure."""

    company_id: int
    receiver: Receiver
    vault: Vault
    ready: deque[Due] = field(default_factory=deque)
    """A page of what is due, the longest due first."""
    size: int = 0
    """Characters of the bodies that are ready."""
    reserved: int = 0
    """Characters that the page which is being loaded may add."""
    taken: set[int] = field(default_factory=set)
    """Deliveries that are ready, under way, or done and not written down yet."""
    in_flight: set[int] = field(default_factory=set)
    allowed: int = 1
    lane: Lane = field(init=False)
    may_have_more: bool = False
    """Whether the file may have something due that is not taken."""
    waiting: "asyncio.Task[None] | None" = None
    """The one of its tasks that waits until the next delivery may begin."""
    _is_told_to_fail: bool = False
    """Whether that is the last that the log was told of it."""
    _silent_until: float = 0.0
    """By the monotonic clock: a receiver that fails now and then must not fill the log."""
    _drops: int = 0
    """How often it was dropped: a page that was read before is not sent."""

    def __post_init__(self) -> None:
        self.lane = Lane(False, self.company_id, self.receiver.host)

    @property
    def has_next(self) -> bool:
        """Whether the receiver may have one more at a time, and there may be one."""
        return len(self.in_flight) < self.allowed and bool(self.ready or self.may_have_more)

    @property
    def is_at_rest(self) -> bool:
        """Whether there is nothing that it would be missed for."""
        return not (self.taken or self.in_flight or self.waiting)

    def aim(self, target: Target) -> None:
        """From here on all is sent to it, also what is ready."""
        if target != self.receiver.target:
            self.receiver = open_receiver(target, self.vault)
            self.lane = self.lane._replace(host=self.receiver.host)

    # --- what is due --------------------------------------------------------------------------------------------

    async def load(self, database: Database, budget: int) -> None:
        """The next page of what is due. `budget`: in characters of bodies; one is always loaded."""
        self.may_have_more = False  # a scan may find more while this reads
        self.reserved, drops = budget, self._drops
        taken, limit = list(self.taken), PAGE * self.allowed
        subscription_id = self.receiver.target.subscription_id
        read = partial(due_store.due_page, subscription_id=subscription_id, taken=taken, limit=limit, room=budget)
        try:
            page = await database.read(read)
            if page is None:
                self.drop()
                return
            lost = [due.id for due in page.found if due.body is None]
            if lost:
                because = "Its event is no longer kept."
                await database.write(lambda tx: due_store.skip(tx, lost, because))
            if self._drops == drops:
                self.aim(page.target)
                self.ready = deque(due for due in page.found if due.body is not None)
                self.size = sum(map(_size, self.ready))
                self.taken.update(due.id for due in self.ready)
                self.may_have_more |= not page.is_all
        finally:
            self.reserved = 0

    def drop(self) -> None:
        """What is ready, or is being loaded, is not sent now; it stays due."""
        self.taken.difference_update(due.id for due in self.ready)
        self.ready.clear()
        self.size = 0
        self.may_have_more = False
        self._drops += 1

    # --- what is under way --------------------------------------------------------------------------------------

    def may_begin(self, lane: Lane) -> bool:
        """Whether one more may begin in this lane, which it waited for."""
        return bool(self.ready) and self.has_next and lane == self.lane

    def begin(self) -> Due:
        """The first that is ready is under way."""
        due = self.ready.popleft()
        self.size -= _size(due)
        self.in_flight.add(due.id)
        return due

    def stop_waiting(self) -> None:
        """Nothing more begins."""
        if self.waiting is not None:
            self.waiting.cancel()

    def answered(self, due: Due, result: Result) -> None:
        """The next may begin, while what came of it is written down."""
        self.in_flight.discard(due.id)
        if result.is_success is not self.lane.is_proven:
            self.lane = self.lane._replace(is_proven=result.is_success)
        self.allowed = min(self.allowed + 1, PER_SUBSCRIPTION) if result.is_success else 1
        if result.status == GONE:
            self.drop()

    def give_back(self, due: Due) -> None:
        """It came to nothing: it is due as before, and is not sent before the next scan."""
        self.drop()
        self.in_flight.discard(due.id)
        self.taken.discard(due.id)

    def recorded(self, delivery_id: int) -> None:
        """From here on the file says whether it is due again."""
        self.taken.discard(delivery_id)

    def tell_change(self, code: str, result: Result, clock: Clock) -> None:
        """The first failure, and the first success after it; what lies between stands in the delivery log.

        `code` is the company's.
        """
        if result.is_success is not self._is_told_to_fail:
            return
        name = f"webhook {self.receiver.target.subscription_id} of {code}"
        if result.is_success:
            self._is_told_to_fail = False
            LOG.info("%s is delivered again", name)
        elif (now := clock.monotonic()) >= self._silent_until:
            self._is_told_to_fail, self._silent_until = True, now + SILENT_SECONDS
            LOG.warning("%s fails: %s", name, result.error or f"it was answered {result.status}")


def update_queues(queues: dict[int, SubscriptionQueue], scan: Scan, vault: Vault) -> list[SubscriptionQueue]:
    """Brings a company's queues up to a scan, and returns those that have something due."""
    due = {target.subscription_id: target for target in scan.due}
    for subscription_id in queues.keys() - due.keys():
        queues[subscription_id].drop()  # switched off or deleted, or the clock was set back
    for subscription_id in queues.keys() - scan.known:
        if queues[subscription_id].is_at_rest:
            del queues[subscription_id]
    for subscription_id, target in due.items():
        if subscription_id in queues:
            queues[subscription_id].aim(target)
        else:
            queues[subscription_id] = SubscriptionQueue(scan.company_id, open_receiver(target, vault), vault)
    return [queues[subscription_id] for subscription_id in due]


def page_budget(queues: Iterable[SubscriptionQueue]) -> int:
    """Of the next page of one of a company's queues, in characters of bodies."""
    taken = sum(queue.size + queue.reserved for queue in queues)
    return max(min(LARGEST_PAGE, LARGEST_OF_COMPANY - taken), 0)


def _size(due: Due) -> int:
    return len(due.body or "")
