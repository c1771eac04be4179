"""The queue of a subscription: the due deliveries that the sender has loaded. The company's file decides what is
due; the queue is only a copy in memory.
"""

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
"""The number of deliveries that one read loads for each allowed attempt. It is not small, because the fixed cost
of a read is as high as the cost of fifty deliveries.
"""
LARGEST_PAGE: Final = 262_144
LARGEST_OF_COMPANY: Final = 16_777_216
"""The maximum for all loaded pages of a company together, in characters of their bodies.

If the pages of a company reach this maximum, each of its subscriptions loads one delivery at a time. LARGEST_PAGE
is the maximum for one page.
"""
SILENT_SECONDS: Final = 3600.0
"""The shortest time between two log lines about the failures of one subscription."""


@dataclass(slots=True, eq=False, repr=False)
class SubscriptionQueue:
    """The queue of a subscription. `allowed` is the number of attempts that may run at the same time. Each success
    increases it by one, and a failure sets it to one.
    """

    company_id: int
    receiver: Receiver
    vault: Vault
    ready: deque[Due] = field(default_factory=deque)
    """The loaded due deliveries, the earliest due time first."""
    size: int = 0
    """The number of characters in the bodies of `ready`."""
    reserved: int = 0
    """The maximum number of characters that the running read may load; 0 if no read is running."""
    taken: set[int] = field(default_factory=set)
    """The ids of the deliveries that are loaded, that are being sent, or whose result is not recorded yet."""
    in_flight: set[int] = field(default_factory=set)
    allowed: int = 1
    lane: Lane = field(init=False)
    may_have_more: bool = False
    """True if the file may have due deliveries whose ids are not in `taken`."""
    waiting: "asyncio.Task[None] | None" = None
    """The task that waits until the next attempt may begin. Only one task of a subscription waits."""
    _is_told_to_fail: bool = False
    """True if the last log line about the subscription reported a failure."""
    _silent_until: float = 0.0
    """The time until which no failure is logged, on the monotonic clock. A receiver that fails from time to time
    must not fill the log.
    """
    _drops: int = 0
    """How often the queue was emptied. If the number changes during a read, the deliveries from this read are not
    used.
    """

    def __post_init__(self) -> None:
        self.lane = Lane(False, self.company_id, self.receiver.host)

    @property
    def has_next(self) -> bool:
        """True if the number of running attempts allows one more, and there may be a delivery for it."""
        return len(self.in_flight) < self.allowed and bool(self.ready or self.may_have_more)

    @property
    def is_at_rest(self) -> bool:
        """True if the queue has no delivery and no task, so that it can be deleted."""
        return not (self.taken or self.in_flight or self.waiting)

    def aim(self, target: Target) -> None:
        """Send all further deliveries to this target, including those that are already loaded."""
        if target != self.receiver.target:
            self.receiver = open_receiver(target, self.vault)
            self.lane = self.lane._replace(host=self.receiver.host)

    # --- due deliveries -----------------------------------------------------------------------------------------

    async def load(self, database: Database, budget: int) -> None:
        """Load the next due deliveries, until their bodies have at least `budget` characters in total. If any
        delivery is due, at least one is loaded.
        """
        self.may_have_more = False  # set before the read, because a scan may find more during the read
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
                because = "The event is no longer stored."
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
        """Empty the queue. Loaded deliveries stay due in the file, but are not sent now."""
        self.taken.difference_update(due.id for due in self.ready)
        self.ready.clear()
        self.size = 0
        self.may_have_more = False
        self._drops += 1

    # --- running attempts ---------------------------------------------------------------------------------------

    def may_begin(self, lane: Lane) -> bool:
        """Return True if one more attempt may begin now. `lane` is the lane whose limits the attempt has acquired.
        Return False if the queue now belongs to another lane.
        """
        return bool(self.ready) and self.has_next and lane == self.lane

    def begin(self) -> Due:
        """Take the first loaded delivery out of the queue to send it, and return it."""
        due = self.ready.popleft()
        self.size -= _size(due)
        self.in_flight.add(due.id)
        return due

    def stop_waiting(self) -> None:
        """Cancel the waiting task, so that no further attempt begins."""
        if self.waiting is not None:
            self.waiting.cancel()

    def answered(self, due: Due, result: Result) -> None:
        """Note the result of a delivery. The result is recorded later; the next attempt may begin now."""
        self.in_flight.discard(due.id)
        if result.is_success is not self.lane.is_reliable:
            self.lane = self.lane._replace(is_reliable=result.is_success)
        self.allowed = min(self.allowed + 1, PER_SUBSCRIPTION) if result.is_success else 1
        if result.status == GONE:
            self.drop()

    def give_back(self, due: Due) -> None:
        """Put back a delivery that was not sent, and empty the queue. The delivery stays due, but is not sent
        before the next scan.
        """
        self.drop()
        self.in_flight.discard(due.id)
        self.taken.discard(due.id)

    def recorded(self, delivery_id: int) -> None:
        """Forget a delivery whose result is in the file. From now on the file says whether the delivery is due
        again.
        """
        self.taken.discard(delivery_id)

    def log_change(self, code: str, result: Result, clock: Clock) -> None:
        """Log the first failure, and the first success after it. The results in between are in the delivery log.

        `code` is the code of the company.
        """
        if result.is_success is not self._is_told_to_fail:
            return
        name = f"webhook {self.receiver.target.subscription_id} of {code}"
        if result.is_success:
            self._is_told_to_fail = False
            LOG.info("%s works again", name)
        elif (now := clock.monotonic()) >= self._silent_until:
            self._is_told_to_fail, self._silent_until = True, now + SILENT_SECONDS
            LOG.warning("%s fails: %s", name, result.error or f"the receiver answered with status {result.status}")


def update_queues(queues: dict[int, SubscriptionQueue], scan: Scan, vault: Vault) -> list[SubscriptionQueue]:
    """Update a company's queues after a scan, and return the queues that have due deliveries."""
    due = {target.subscription_id: target for target in scan.due}
    for subscription_id in queues.keys() - due.keys():
        queues[subscription_id].drop()  # the subscription was switched off or deleted, or the clock was set back
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
    """Return how many characters of bodies the next read may load. `queues` are all queues of one company."""
    taken = sum(queue.size + queue.reserved for queue in queues)
    return max(min(LARGEST_PAGE, LARGEST_OF_COMPANY - taken), 0)


def _size(due: Due) -> int:
    return len(due.body or "")
