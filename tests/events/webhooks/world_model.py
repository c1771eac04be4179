"""A model of subscriptions and their deliveries in plain Python, which is told what was done and what receivers
answered.

Times are in milliseconds. The model reads the events from the file, and predicts everything that follows from
them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

WAITS = (30_000, 120_000, 480_000, 1_920_000)
ATTEMPTS = 5
MOST_AT_ONCE = 16
DAY = 86_400_000
SWITCHED_OFF_AFTER = 5 * DAY
A_MINUTE = 60_000
OPEN = ("pending", "held")


@dataclass(frozen=True)
class Event:
    sequence: int
    id: str
    event: str
    entity: str
    entity_id: int
    body: str


@dataclass
class Delivery:
    sequence: int
    event: Event | None
    """The event, or None for a test."""
    status: str = "pending"
    due: int | None = None
    attempts: int = 0
    left: int = ATTEMPTS
    began: int | None = None
    """The time at which the running attempt began, or None."""

    @property
    def entity(self) -> tuple[str, int]:
        return ("webhook", 0) if self.event is None else (self.event.entity, self.event.entity_id)

    @property
    def shown(self) -> tuple[object, ...]:
        return self.sequence, self.status, self.due, self.attempts, self.left


@dataclass
class Subscription:
    id: int
    url: str
    secret: str
    events: tuple[str, ...]
    changed: int
    active: bool = True
    previous: str | None = None
    previous_ends: int = 0
    deliveries: list[Delivery] = field(default_factory=list)
    failing: int | None = None
    """The time for which the subscription has been failing, in milliseconds, or None if it works."""
    last_attempt: int = 0
    is_switched_off: bool = False
    allowed: int = 1
    """The number of attempts that may run at the same time, by the last result."""

    @property
    def shown(self) -> tuple[object, ...]:
        return (
            self.active,
            self.is_switched_off,
            self.failing,
            [delivery.shown for delivery in self.deliveries],
        )

    @property
    def under_way(self) -> list[Delivery]:
        return [delivery for delivery in self.deliveries if delivery.began is not None]

    def secrets(self, now: int) -> list[str]:
        return [self.secret, *([self.previous] if self.previous and self.previous_ends > now else [])]

    def due(self, now: int) -> list[Delivery]:
        """Return the deliveries that are pending, due and not under way."""
        return [each for each in self.pending() if each.began is None and (each.due or 0) <= now]

    def pending(self) -> Iterator[Delivery]:
        return (delivery for delivery in self.deliveries if delivery.status == "pending")

    def open_before(self, delivery: Delivery) -> bool:
        return any(
            each.entity == delivery.entity and each.status in OPEN
            for each in self.deliveries[: delivery.sequence - 1]
        )

    def queue(self, event: Event, now: int) -> None:
        delivery = Delivery(len(self.deliveries) + 1, event, due=now)
        if self.open_before(delivery):
            delivery.status, delivery.due = "held", None
        self.deliveries.append(delivery)

    def queue_test(self, now: int) -> Delivery:
        delivery = Delivery(len(self.deliveries) + 1, None, due=now + A_MINUTE, left=1)
        self.deliveries.append(delivery)
        return delivery

    def send_again(self, delivery: Delivery, now: int) -> None:
        delivery.status, delivery.due, delivery.left = "pending", now, ATTEMPTS

    def send_range(self, statuses: tuple[str, ...], now: int) -> None:
        chosen = [each for each in self.deliveries if each.status in statuses and each.event is not None]
        for delivery in chosen:
            delivery.status, delivery.due, delivery.left = "held", None, ATTEMPTS
        for delivery in chosen:
            if not self.open_before(delivery):
                delivery.status, delivery.due = "pending", now

    def switch(self, active: bool) -> None:
        if not self.active:
            self.failing, self.is_switched_off = None, False
        self.active = active

    def finish(self, delivery: Delivery, status: int, now: int, began: int) -> None:
        """Apply a receiver's answer to a delivery."""
        delivery.began = None
        if delivery.status not in ("pending", "skipped"):
            return
        delivery.attempts += 1
        delivery.left = max(delivery.left - 1, 0)
        delivery.due = None
        if status == 200:
            delivery.status = "delivered"
            self.failing = None
        else:
            if delivery.status == "pending" and delivery.left:
                delivery.due = now + WAITS[-delivery.left]
            elif delivery.status == "pending":
                delivery.status = "exhausted"
            self._failed(status, began)
        self.last_attempt = began
        if delivery.due is None:
            self._release(delivery, now)

    def _failed(self, status: int, began: int) -> None:
        passed = min(max(began - self.last_attempt, 0), DAY)
        self.failing = 0 if self.failing is None else self.failing + passed
        is_gone = status == 410 and self.changed <= began
        if self.active and (is_gone or (status != 410 and self.failing >= SWITCHED_OFF_AFTER)):
            self.active, self.is_switched_off = False, True

    def _release(self, done: Delivery, now: int) -> None:
        for delivery in self.deliveries:
            if delivery.entity == done.entity and delivery.status in OPEN:
                if delivery.status == "held":
                    delivery.status, delivery.due = "pending", now
                return

    def skip_all(self) -> None:
        for delivery in self.deliveries:
            if delivery.status in OPEN:
                delivery.status, delivery.due = "skipped", None

    def clamp(self, now: int) -> None:
        for delivery in self.pending():
            longest = WAITS[-delivery.left] if 0 < delivery.left < ATTEMPTS else 0
            if delivery.event is not None and delivery.due is not None:
                delivery.due = min(delivery.due, now + longest)
