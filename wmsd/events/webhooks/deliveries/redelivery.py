"""Sends finished deliveries again: one delivery, or all deliveries of a range."""

import math
from dataclasses import replace
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.deliveries import ATTEMPTS
from wmsd.events.webhooks.deliveries import filters
from wmsd.events.webhooks.deliveries.due_store import now_in_milliseconds
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter, Found

FAILED: Final = ("exhausted", "skipped")
AT_ONCE: Final = 5000

SEND_NOW: Final = """
    UPDATE webhook_deliveries
    SET status = 'pending', attempts_left = :attempts, due_at = :now, skipped_because = NULL
    WHERE id = :id
"""


def send_now(tx: Transaction, delivery_id: int) -> None:
    """Make the delivery due now, whatever its status. The delivery does not wait for earlier deliveries of its
    entity.
    """
    tx.execute(SEND_NOW, {"id": delivery_id, "attempts": ATTEMPTS, "now": now_in_milliseconds(tx)})


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


def count(
    tx: Transaction, chosen: DeliveryFilter, most: float = math.inf, most_looks: float = math.inf
) -> tuple[int, bool]:
    """Count the finished deliveries that match `chosen`. Stop at `most` deliveries, or after `most_looks` reads of
    the log.

    Return the number of counted deliveries, and whether these are all deliveries that match.
    """
    number, after, looks = 0, 0, 0
    while True:
        found = _next(tx, chosen, after)
        number, looks, after = number + len(found.ids), looks + 1, found.last
        if number > most:
            return int(most), False
        if not found.is_more or looks >= most_looks:
            return number, not found.is_more


def send_range(tx: Transaction, chosen: DeliveryFilter, after: int) -> Found:
    """Queue again the deliveries that match `chosen` and come after the delivery `after`. One call queues a
    limited number.

    Return the queued deliveries. Deliveries of one entity stay in their order.
    """
    found = _next(tx, chosen, after)
    given = {"ids": dumps(found.ids), "attempts": ATTEMPTS, "now": now_in_milliseconds(tx)}
    tx.execute(HOLD, given)
    tx.execute(RELEASE_FIRST, given)
    return found


def _next(tx: Transaction, chosen: DeliveryFilter, after: int) -> Found:
    """Return the next deliveries that match `chosen`, without test events."""
    return filters.oldest(tx, replace(chosen, has_tests=False), after, AT_ONCE)
