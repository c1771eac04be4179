"""The rules that must hold after a run of `ledger_run`: the company's file must match what the
receivers recorded.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from tests.support.ledger_run import ATTEMPTS, SPEED, SUBSCRIBERS, YEAR, Ran
from tests.support.unsteady import Received

WAITS: Final = (30, 120, 480, 1920, 0)
"""Seconds after each attempt (specification, section 6). The first attempt of a new round waits 0 seconds."""
A_SECOND: Final = 1
"""The error of a wait between two times in whole seconds: the wait may be this many seconds longer."""
MOST_IN_A_SECOND: Final = 8
"""The most attempts at one delivery in a second. The back-offs by the fast clock allow three attempts. Kills and
jumps of the clock cause the other attempts.
"""
LOGGED: Final = re.compile(r"^(?:\S+ \S+ (?:warning|error|critical) |Traceback).*", re.MULTILINE)
MAY_BE_LOGGED: Final = re.compile(
    r"wmsd runs as root| the clock was set | a command is using | webhook \d+ of \w+ fails: "
    r"| warning Webhook deliveries of the company \w+ failed "
    r"| the last change of company \w+ has the time "
)


class Event(NamedTuple):
    sequence: int
    id: str
    event: str
    entity: str
    entity_id: int
    occurred_at: str
    data: str

    @property
    def digest(self) -> bytes:
        """The SHA-256 of the body that a delivery of this event must have."""
        body = f'{{"event":"{self.event}","timestamp":"{self.occurred_at}","data":{self.data}}}'
        return hashlib.sha256(body.encode()).digest()


class Delivery(NamedTuple):
    id: int
    sequence: int
    event_sequence: int
    status: str
    attempts: int


class Noted(NamedTuple):
    """An attempt in the webhook log. `status` is None if there was no answer."""

    number: int
    status: int | None
    error: str | None

    @property
    def is_success(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status < 300


@dataclass(slots=True)
class Subscriber:
    """A subscriber: its events and deliveries in the company's file, and the requests that it received, by the id
    of the event.
    """

    name: str
    last_sequence: int
    expected: list[Event]
    deliveries: list[Delivery]
    received: dict[str, list[Received]]


@dataclass(slots=True)
class Ledger:
    ran: Ran
    subscribers: list[Subscriber]
    noted: Mapping[int, list[Noted]]
    figures: Counter[str] = field(default_factory=Counter)


EVENTS: Final = "SELECT sequence, id, event, entity, entity_id, occurred_at, data FROM events ORDER BY sequence"
DELIVERIES: Final = """
    SELECT id, sequence, event_sequence, status, attempts FROM webhook_deliveries
    WHERE subscription_id = {} ORDER BY sequence
"""
NOTED: Final = "SELECT delivery_id, number, status, error FROM webhook_attempts ORDER BY delivery_id, number"


def read(ran: Ran) -> Ledger:
    rows = ran.tenant.rows
    events = [event for event in (Event(*row) for row in rows(EVENTS)) if event.sequence >= ran.first_event]
    noted = defaultdict(list)
    for delivery_id, *row in rows(NOTED):
        noted[delivery_id].append(Noted(*row))
    subscribers = [
        Subscriber(
            name=name,
            last_sequence=last_sequence,
            expected=[event for event in events if {event.event, "*"} & {*SUBSCRIBERS[name]}],
            deliveries=[Delivery(*row) for row in rows(DELIVERIES.format(subscription_id))],
            received=_by_event(ran.receivers[name].received),
        )
        for subscription_id, name, last_sequence in rows(
            "SELECT id, name, last_sequence FROM webhook_subscriptions ORDER BY id"
        )
    ]
    ledger = Ledger(ran, subscribers, noted)
    ledger.figures["events"] = len(events)
    return ledger


def _by_event(received: Iterable[Received]) -> dict[str, list[Received]]:
    found: dict[str, list[Received]] = {}
    for each in received:
        found.setdefault(each.event_id, []).append(each)
    return found


def broken(ledger: Ledger) -> Iterator[str]:
    """Yield a sentence for each broken rule.

    The iteration also fills `ledger.figures`, so it must be run to the end.
    """
    yield from ledger.ran.wrong
    yield from _acknowledged(ledger)
    yield from _quiet_log(ledger)
    for subscriber in ledger.subscribers:
        for sentence in _of_subscriber(ledger, subscriber):
            yield f"{subscriber.name}: {sentence}"
    yield from _no_storm(ledger)


def _acknowledged(ledger: Ledger) -> Iterator[str]:
    told = {event.entity_id for event in ledger.subscribers[0].expected if event.event == "sales_order.created"}
    for order_id in ledger.ran.acknowledged - told:
        yield f"The order {order_id} was acknowledged, and no event tells of it."
    ledger.figures["orders"] = len(told)


def _quiet_log(ledger: Ledger) -> Iterator[str]:
    for line in LOGGED.findall(ledger.ran.log.read_text(encoding="utf-8")):
        if not MAY_BE_LOGGED.search(line):
            yield f"A server logged: {line}"


def _of_subscriber(ledger: Ledger, subscriber: Subscriber) -> Iterator[str]:
    yield from _numbered(subscriber)
    for unknown in subscriber.received.keys() - {event.id for event in subscriber.expected}:
        yield f"it received {unknown}, which is no event that it waits for."
    by_event = {delivery.event_sequence: delivery for delivery in subscriber.deliveries}
    for event in subscriber.expected:
        received = subscriber.received.get(event.id, [])
        ledger.figures["attempts"] += len(received)
        delivery = by_event.get(event.sequence)
        if delivery is None:
            yield f"{event.event} {event.id} was never queued."
            continue
        flaws = [
            *_delivered(delivery, event, received),
            *_as_noted(ledger, delivery, received),
            *_one_by_one(ledger, delivery, received),
        ]
        for flaw in flaws:
            yield f"{event.event} {event.id}: {flaw}"
    yield from _in_order(ledger, subscriber, by_event)


def _numbered(subscriber: Subscriber) -> Iterator[str]:
    """Yield a sentence if the sequence numbers have a gap, and one if there is not one delivery for each event, in
    the order of the events.
    """
    sequences = [delivery.sequence for delivery in subscriber.deliveries]
    if sequences != list(range(1, len(sequences) + 1)) or subscriber.last_sequence != len(sequences):
        yield "its sequences have a gap."
    if [each.event_sequence for each in subscriber.deliveries] != [
        event.sequence for event in subscriber.expected
    ]:
        yield (
            f"its {len(sequences)} deliveries are not one for each of {len(subscriber.expected)} events, in order."
        )


def _delivered(delivery: Delivery, event: Event, received: Sequence[Received]) -> Iterator[str]:
    """Yield a sentence for each broken rule: a delivery must succeed at least once, and every attempt must have
    the same id, body and number.
    """
    if not any(each.success for each in received):
        yield f"it was never received with success; the log says {delivery.status}."
    if delivery.status != "delivered":
        yield f"it is {delivery.status} in the end."
    for each in received:
        if each.digest != event.digest:
            yield f"attempt {each.attempt} had another body."
        if (each.event, each.sequence) != (event.event, delivery.sequence):
            yield f"attempt {each.attempt} said {each.event}, number {each.sequence}, not {delivery.sequence}."
        if each.flaws:
            yield f"attempt {each.attempt}: {each.flaws}."


def _as_noted(ledger: Ledger, delivery: Delivery, received: Sequence[Received]) -> Iterator[str]:
    """Yield a sentence for each difference between the log and the receiver.

    The log must have every attempt with its result. The only success must be the last attempt.
    """
    noted = ledger.noted.get(delivery.id, [])
    if [each.number for each in noted] != list(range(1, delivery.attempts + 1)):
        yield f"the log has the attempts {[each.number for each in noted]} of {delivery.attempts}."
    rounds = 1 + ledger.ran.rounds[delivery.id]
    if delivery.attempts > ATTEMPTS * rounds:
        yield f"{delivery.attempts} attempts were made in {rounds} rounds."
    if [each.is_success for each in noted] != [False] * (len(noted) - 1) + [True]:
        yield "the log does not end with its only success."
    at_receiver = {each.attempt for each in received}
    for each in noted:
        if each.status is not None and each.number not in at_receiver:
            yield f"the log has an answer to attempt {each.number}, which was never received."
    if any(each.attempt > delivery.attempts for each in received):
        yield "an attempt was received that the log does not have."
    if noted and not any(each.success and each.attempt == noted[-1].number for each in received):
        yield "the success in the log is none of the receiver's."


def _one_by_one(ledger: Ledger, delivery: Delivery, received: Sequence[Received]) -> Iterator[str]:
    """Yield a sentence for each attempt in the wrong order or too early.

    Attempts count up, with the back-off between them. An attempt may repeat only if a kill lost its result.
    """
    has_succeeded = False
    for before, after in pairwise(received):
        has_succeeded |= bool(before.success)
        is_repeated = after.attempt == before.attempt
        ledger.figures["sent again after a kill"] += is_repeated and before.is_answered
        ledger.figures["successes sent again"] += has_succeeded
        if before.success and not is_repeated and after.life == before.life:
            yield f"attempt {after.attempt} followed a success, without a kill between."
        elif is_repeated and after.life == before.life and before.is_answered:
            yield f"attempt {after.attempt} was made twice, without a kill between."
        elif after.attempt < before.attempt:
            yield f"attempt {after.attempt} followed attempt {before.attempt}."
        elif not is_repeated and not _has_leapt(before, after):
            wait = sum(WAITS[(number - 1) % ATTEMPTS] for number in range(before.attempt, after.attempt))
            if after.seconds - before.seconds < wait - A_SECOND:
                yield (
                    f"attempt {after.attempt} came {after.seconds - before.seconds} seconds after attempt "
                    f"{before.attempt}, not {wait}."
                )


def _has_leapt(before: Received, after: Received) -> bool:
    """Return True if the clock jumped between the two requests."""
    passed = (after.at - before.at) * SPEED
    return abs(after.seconds - before.seconds - passed) > YEAR.total_seconds() / 2


def _in_order(ledger: Ledger, subscriber: Subscriber, by_event: Mapping[int, Delivery]) -> Iterator[str]:
    """Yield a sentence for each event that overtook an earlier event of its entity.

    The first successes must come in the order of the events. Deliveries that were exhausted do not count.
    """
    expected = sorted(subscriber.expected, key=lambda event: (event.entity, event.entity_id, event.sequence))
    for (entity, entity_id), events in groupby(expected, lambda event: (event.entity, event.entity_id)):
        kept = [
            event
            for event in events
            if event.sequence in by_event and by_event[event.sequence].id not in ledger.ran.rounds
        ]
        firsts = [_first_success(subscriber.received.get(event.id, [])) for event in kept]
        if firsts != sorted(firsts):
            yield f"of {entity} {entity_id} an event overtook an earlier one: {firsts}."


def _first_success(received: Sequence[Received]) -> int:
    return min((each.success for each in received if each.success), default=0)


def _no_storm(ledger: Ledger) -> Iterator[str]:
    """Yield a sentence for each second with too many attempts, however the clock jumps."""
    of_one: Counter[tuple[str, str, int]] = Counter()
    of_all: Counter[int] = Counter()
    for name, receiver in ledger.ran.receivers.items():
        for each in receiver.received:
            of_one[name, each.event_id, int(each.at)] += 1
            of_all[int(each.at)] += 1
    ledger.figures["most in a second"] = max(of_all.values())
    for (name, event_id, _), count in of_one.items():
        if count > MOST_IN_A_SECOND:
            yield f"{name}: {event_id} was sent {count} times within a second."
