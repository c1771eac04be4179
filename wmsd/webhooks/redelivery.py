"""Sends deliveries again that are done: one, or all of a range."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.db.transaction import Transaction
from wmsd.outbox.deliveries import ATTEMPTS
from wmsd.webhooks.deliveries import milliseconds

CLOSED: Final = ("delivered", "exhausted", "skipped")
FAILED: Final = ("exhausted", "skipped")
AT_ONCE: Final = 5000

SEND_NOW: Final = """
    UPDATE webhook_deliveries
    SET status = 'pending', attempts_left = :attempts, due_at = :now, skipped_because = NULL
    WHERE id = :id
"""


def send_now(tx: Transaction, delivery_id: int) -> None:
    """Makes it due now in any status. It does not wait for others."""
    tx.execute(SEND_NOW, {"id": delivery_id, "attempts": ATTEMPTS, "now": milliseconds(tx)})


@dataclass(frozen=True, slots=True)
class Range:
    """A subscription's deliveries with these statuses, queued from `since` until `until`, without tests."""

    subscription_id: int
    since: str
    until: str
    statuses: Iterable[str] = CLOSED

    def parameters(self) -> dict[str, object]:
        return {
            "subscription_id": self.subscription_id,
            "since": self.since,
            "until": self.until,
            "statuses": dumps(list(self.statuses)),
        }


IN_RANGE: Final = """
    FROM webhook_deliveries
    WHERE subscription_id = :subscription_id AND id > :after
        AND created_at >= :since AND created_at <= :until
        AND status IN (SELECT value FROM json_each(:statuses)) AND test_event IS NULL
"""
COUNT: Final = f"SELECT count(*) {IN_RANGE}"
CHOSEN: Final = f"SELECT id {IN_RANGE} ORDER BY id LIMIT :limit"
HOLD: Final = """
    UPDATE webhook_deliveries SET status = 'held', attempts_left = :attempts, skipped_because = NULL
    WHERE id IN (SELECT value FROM json_each(:ids))
"""
RELEASE_FIRST: Final = """
    UPDATE webhook_deliveries SET status = 'pending', due_at = :now
    WHERE id IN (SELECT value FROM json_each(:ids)) AND NOT EXISTS (
        SELECT 1 FROM webhook_deliveries AS earlier
        WHERE earlier.subscription_id = webhook_deliveries.subscription_id
            AND earlier.entity = webhook_deliveries.entity AND earlier.entity_id = webhook_deliveries.entity_id
            AND earlier.id < webhook_deliveries.id AND earlier.status IN ('pending', 'held')
    )
"""


def count(tx: Transaction, chosen: Range) -> int:
    """The number of deliveries that would be sent again."""
    found: int = tx.value(COUNT, {**chosen.parameters(), "after": 0})
    return found


def send_range(tx: Transaction, chosen: Range, after: int) -> tuple[int, int]:
    """Queues some of the range, those after the id `after`; those of one entity keep their order.

    Returns the last id, and how many they were. Fewer than `AT_ONCE` means that no more are left.
    """
    rows = tx.rows(CHOSEN, {**chosen.parameters(), "after": after, "limit": AT_ONCE})
    ids = [row[0] for row in rows]
    given = {"ids": dumps(ids), "attempts": ATTEMPTS, "now": milliseconds(tx)}
    tx.execute(HOLD, given)
    tx.execute(RELEASE_FIRST, given)
    return (ids[-1] if ids else after), len(ids)
