"""Sends deliveries again that are done: one, or all of a range."""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.deliveries import ATTEMPTS
from wmsd.events.webhooks.deliveries import filters
from wmsd.events.webhooks.deliveries.due_store import now_in_milliseconds
from wmsd.events.webhooks.deliveries.filters import Record, Wanted
from wmsd.events.webhooks.deliveries.schema import CLOSED_STATUSES

CLOSED: Final = CLOSED_STATUSES
FAILED: Final = ("exhausted", "skipped")
AT_ONCE: Final = 5000

SEND_NOW: Final = """
    UPDATE webhook_deliveries
    SET status = 'pending', attempts_left = :attempts, due_at = :now, skipped_because = NULL
    WHERE id = :id
"""


def send_now(tx: Transaction, delivery_id: int) -> None:
    """Makes it due now in any status. It does not wait for others."""
    tx.execute(SEND_NOW, {"id": delivery_id, "attempts": ATTEMPTS, "now": now_in_milliseconds(tx)})


@dataclass(frozen=True, slots=True)
class Range:
    """A subscription's deliveries with these statuses, queued from `since` until `until`, without tests. `events`
    and `records`: only those.
    """

    subscription_id: int
    since: str
    until: str
    statuses: Iterable[str] = CLOSED
    events: tuple[str, ...] | None = None
    records: tuple[Record, ...] | None = None

    @property
    def wanted(self) -> Wanted:
        return Wanted(
            self.subscription_id,
            tuple(self.statuses),
            self.events,
            self.records,
            self.since,
            self.until,
            has_tests=False,
        )


class Counted(NamedTuple):
    """How many there are. Unless it `is_whole`, there are more, or may be."""

    number: int
    is_whole: bool


class Sent(NamedTuple):
    """The last that was looked at, how many are sent again, and whether there may be more after it."""

    last: int
    number: int
    is_more: bool


HOLD: Final = """
    UPDATE webhook_deliveries SET status = 'held', attempts_left = :attempts, skipped_because = NULL
    WHERE id IN (SELECT value FROM json_each(:ids))
"""
RELEASE_FIRST: Final = """
    UPDATE webhook_deliveries SET status = 'pending', due_at = :now
    WHERE id IN (SELECT value FROM json_each(:ids)) AND NOT EXISTS (
        SELECT 1 FROM webhook_deliveries AS earlier INDEXED BY webhook_deliveries_open
        WHERE earlier.subscription_id = webhook_deliveries.subscription_id
            AND earlier.entity = webhook_deliveries.entity AND earlier.entity_id = webhook_deliveries.entity_id
            AND earlier.id < webhook_deliveries.id AND earlier.status IN ('pending', 'held')
    )
"""


def count(tx: Transaction, chosen: Range, most: float = math.inf, most_looks: float = math.inf) -> Counted:
    """The number of deliveries that would be sent again: no more than `most`, and after no more than so many looks
    at the log.
    """
    number, after, looks = 0, 0, 0
    while True:
        found = filters.oldest(tx, chosen.wanted, after, AT_ONCE)
        number, looks = number + len(found.ids), looks + 1
        if number > most:
            return Counted(int(most), is_whole=False)
        if not found.is_more or looks >= most_looks:
            return Counted(number, is_whole=not found.is_more)
        after = found.last or after


def send_range(tx: Transaction, chosen: Range, after: int) -> Sent:
    """Queues some of the range, those after the delivery `after`; those of one entity keep their order."""
    found = filters.oldest(tx, chosen.wanted, after, AT_ONCE)
    given = {"ids": dumps(found.ids), "attempts": ATTEMPTS, "now": now_in_milliseconds(tx)}
    tx.execute(HOLD, given)
    tx.execute(RELEASE_FIRST, given)
    return Sent(found.last or after, len(found.ids), found.is_more)
