"""Deliveries, queued in the transaction of the events that they carry (decisions, section 6).

Each gets the next number of its subscription. One is `pending`, with the time at which it is due, unless an
earlier one of the same entity is still open: then it is `held`, and comes when that one is done.
"""

from dataclasses import dataclass
from typing import Final

from wmsd.base import timestamps
from wmsd.db.transaction import Transaction

ATTEMPTS: Final = 5

IS_AWAITED: Final = "SELECT EXISTS (SELECT 1 FROM webhook_topics)"
QUEUE: Final = """
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, event_sequence, entity, entity_id, status, attempts_left, due_at, created_at)
    SELECT subscription_id, sequence, event_sequence, entity, entity_id,
        iif(is_held, 'held', 'pending'), :attempts, iif(is_held, NULL, :due_at), :now
    FROM (
        SELECT topic.subscription_id, events.sequence AS event_sequence, events.entity, events.entity_id,
            subscription.last_sequence + row_number() OVER (
                PARTITION BY topic.subscription_id ORDER BY events.sequence
            ) AS sequence,
            row_number() OVER (
                PARTITION BY topic.subscription_id, events.entity, events.entity_id ORDER BY events.sequence
            ) > 1 OR EXISTS (
                SELECT 1 FROM webhook_deliveries AS open
                WHERE open.subscription_id = topic.subscription_id AND open.entity = events.entity
                    AND open.entity_id = events.entity_id AND open.status IN ('pending', 'held')
            ) AS is_held
        FROM events
        CROSS JOIN webhook_topics AS topic ON topic.event IN (events.event, '*')
        CROSS JOIN webhook_subscriptions AS subscription ON subscription.id = topic.subscription_id
        WHERE events.sequence BETWEEN :first AND :last
    )
    ORDER BY subscription_id, sequence
"""


@dataclass(slots=True)
class _Recorded:
    """The events of a unit of work: nobody else records between the first and the last."""

    first: int = 0
    last: int = 0


def queue_at_end(tx: Transaction, first: int, last: int) -> None:
    """The events of these sequences were inserted; at the end of the unit of work their deliveries are queued."""
    recorded = tx.at_last("deliveries", lambda gathered: _queue(tx, gathered), _Recorded)
    recorded.first = recorded.first or first
    recorded.last = last


def _queue(tx: Transaction, recorded: _Recorded) -> None:
    if tx.value(IS_AWAITED):
        now = timestamps.microseconds(tx.now) // 1000
        tx.execute(
            QUEUE,
            {
                "first": recorded.first,
                "last": recorded.last,
                "attempts": ATTEMPTS,
                "due_at": now,
                "now": tx.timestamp,
            },
        )
