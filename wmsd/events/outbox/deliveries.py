"""Webhook deliveries, queued in the transaction of their events (decisions, section 6).

Each delivery gets the next number of its subscription. Its first status is `pending`, with the time at which it is
due. But if an earlier delivery of the same entity is still open, its status is `held`. A held delivery becomes due
when the earlier delivery is done.
"""

from functools import partial
from typing import Final

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction

ATTEMPTS: Final = 5

QUEUE: Final = """
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, event_sequence, event, entity, entity_id, status, attempts_left, due_at,
            created_at)
    SELECT subscription_id, sequence, event_sequence, event, entity, entity_id,
        iif(is_held, 'held', 'pending'), :attempts, iif(is_held, NULL, :due_at), :now
    FROM (
        SELECT topic.subscription_id, events.sequence AS event_sequence, events.event, events.entity,
            events.entity_id,
            subscription.last_sequence + row_number() OVER (
                PARTITION BY topic.subscription_id ORDER BY events.sequence
            ) AS sequence,
            row_number() OVER (
                PARTITION BY topic.subscription_id, events.entity, events.entity_id ORDER BY events.sequence
            ) > 1 OR EXISTS (
                SELECT 1 FROM webhook_deliveries AS open INDEXED BY webhook_deliveries_open
                WHERE open.subscription_id = topic.subscription_id AND open.entity = events.entity
                    AND open.entity_id = events.entity_id AND open.status IN ('pending', 'held')
            ) AS is_held
        FROM events
        CROSS JOIN webhook_topics AS topic ON topic.event IN (events.event, '*')
        CROSS JOIN webhook_subscriptions AS subscription ON subscription.id = topic.subscription_id
        WHERE events.sequence >= :first
    )
    ORDER BY subscription_id, sequence
"""


def queue_at_commit(tx: Transaction, first: int) -> None:
    """At the commit, queue the deliveries of the events. `first` is the sequence of the first event.

    A commit can contain several units of work. One statement queues the deliveries for all of them, so only the
    first unit's `first` is used. If the first unit is rolled back, the next unit uses the same sequences, so
    `first` stays right.
    """
    tx.at_commit.setdefault("deliveries", partial(_queue, first=first))


def _queue(tx: Transaction, first: int) -> None:
    if tx.value("SELECT EXISTS (SELECT 1 FROM webhook_topics)"):
        now = timestamps.microseconds(tx.now) // 1000
        tx.execute(QUEUE, {"first": first, "attempts": ATTEMPTS, "due_at": now, "now": tx.timestamp})
