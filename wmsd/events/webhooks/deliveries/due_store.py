"""The SQL of sending: which deliveries are due, and which wait for an earlier delivery of the same record
(`held`).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.epochs import epoch_of_sql
from wmsd.events.outbox.events import TEST_EVENT
from wmsd.events.webhooks.rules import WAITS


def now_in_milliseconds(tx: Transaction) -> int:
    """Return the transaction's time in milliseconds since 1970."""
    return timestamps.microseconds(tx.now) // 1000


class Target(NamedTuple):
    """Where and how the deliveries of a subscription are sent: URL and sealed credentials."""

    subscription_id: int
    url: str
    auth_type: str
    credentials: str
    previous_secret: str | None
    previous_secret_expires_at: str | None


TARGET: Final = "id, url, auth_type, credentials, previous_secret, previous_secret_expires_at"
TARGET_OF_ONE: Final = f"SELECT {TARGET} FROM webhook_subscriptions WHERE id = ?"
SENDS: Final = "active AND credentials_missing_since IS NULL"
TARGET_OF_ACTIVE: Final = f"{TARGET_OF_ONE} AND {SENDS}"


def target(tx: Transaction, subscription_id: int) -> Target | None:
    row = tx.row(TARGET_OF_ONE, (subscription_id,))
    return None if row is None else Target(*row)


OUTLOOKS: Final = f"""
    SELECT {TARGET}, {SENDS} AND EXISTS (
        SELECT 1 FROM webhook_deliveries WHERE subscription_id = subscription.id AND due_at <= :now
    ), iif({SENDS}, (
        SELECT min(due_at) FROM webhook_deliveries WHERE subscription_id = subscription.id AND due_at > :now
    ), NULL)
    FROM webhook_subscriptions AS subscription
"""


class Outlook(NamedTuple):
    """What a subscription has to send. `is_due` says whether a delivery is due now. `next_due` is the earliest due
    time in the future.

    Times are in milliseconds since 1970. If a subscription is inactive or its credentials are missing, `is_due` is
    0 and `next_due` is None.
    """

    target: Target
    is_due: int
    next_due: int | None


def outlooks(tx: Transaction) -> list[Outlook]:
    """Return the outlook of every subscription."""
    rows = tx.rows(OUTLOOKS, {"now": now_in_milliseconds(tx)})
    return [Outlook(Target(*target), is_due, next_due) for *target, is_due, next_due in rows]


class Due(NamedTuple):
    """A delivery to send. `body` is None if its event is no longer stored."""

    id: int
    sequence: int
    attempts: int
    event_id: str | None
    event: str | None
    body: str | None
    epoch: str
    """The epoch of the company's history in which the delivery was queued."""
    sequence_gap: str | None
    """The numbers that wmsd skipped directly before the number of this delivery, such as `13-28`. wmsd skips
    numbers where a new epoch begins. None if no number was skipped.
    """


BODY: Final = """'{"event":"' || events.event || '","timestamp":"' || events.occurred_at || '","data":' """
SENT_BODY: Final = f"coalesce({BODY} || events.data || '}}', test_event ->> 'body')"
"""The SQL of a delivery's body, which is the same at every attempt."""
EPOCH_OF: Final = epoch_of_sql("webhook_deliveries", "delivery.id")
SEQUENCE_GAP: Final = """(
    SELECT (last + 1) || '-' || (next - 1) FROM seams
    WHERE numbers = 'webhook_subscriptions/' || delivery.subscription_id AND next = delivery.sequence
    ORDER BY last LIMIT 1
)"""
DUE: Final = f"""
    SELECT delivery.id, delivery.sequence, delivery.attempts,
        coalesce(events.id, test_event ->> 'id'), coalesce(events.event, test_event ->> 'event'),
        {SENT_BODY}, {EPOCH_OF}, {SEQUENCE_GAP}
    FROM webhook_deliveries AS delivery LEFT JOIN events ON events.sequence = delivery.event_sequence
"""
DUE_NOW: Final = f"""
    {DUE} WHERE delivery.subscription_id = :subscription_id AND due_at <= :now
        AND delivery.id NOT IN (SELECT value FROM json_each(:taken))
    ORDER BY due_at, delivery.id LIMIT :limit
"""
ONE: Final = f"{DUE} WHERE delivery.id = ?"


class DuePage(NamedTuple):
    """Deliveries of a subscription that are due now. `is_all` is True if `found` has all of them, apart from
    deliveries that the caller excluded.
    """

    target: Target
    found: list[Due]
    is_all: bool


def due_page(tx: Transaction, subscription_id: int, taken: Sequence[int], limit: int, room: int) -> DuePage | None:
    """Return at most `limit` due deliveries of the subscription, the earliest due time first. Leave out the
    deliveries whose ids are in `taken`. Return None if the subscription is switched off or deleted, or its
    credentials are missing.

    The page ends as soon as the bodies of its deliveries have at least `room` characters in total.
    """
    target = tx.row(TARGET_OF_ACTIVE, (subscription_id,))
    if target is None:
        return None
    given = {
        "subscription_id": subscription_id,
        "now": now_in_milliseconds(tx),
        "taken": dumps(taken),
        "limit": limit,
    }
    found = []
    for row in tx.execute(DUE_NOW, given):
        found.append(Due(*row))
        room -= len(found[-1].body or "")
        if room <= 0:
            break
    return DuePage(Target(*target), found, is_all=room > 0 and len(found) < limit)


QUEUE_TEST: Final = """
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, test_event, event, entity, entity_id, status, attempts_left, due_at,
            created_at)
    SELECT id, last_sequence + 1, :event, :name, 'webhook', id, 'pending', 1, :due_at, :now
    FROM webhook_subscriptions WHERE id = :id
"""
A_MINUTE: Final = 60_000


def queue_test(tx: Transaction, subscription_id: int) -> Due:
    """Queue a test event, and return its delivery, which the caller sends immediately. If the caller does not send
    the delivery, the delivery becomes due after one minute.
    """
    body = {"event": TEST_EVENT, "timestamp": tx.timestamp, "data": {"webhook_id": subscription_id}}
    event = {"id": tx.ids.unique(), "event": TEST_EVENT, "timestamp": tx.timestamp, "body": dumps(body)}
    given = {"id": subscription_id, "event": dumps(event), "name": TEST_EVENT, "now": tx.timestamp}
    delivery_id = tx.insert(QUEUE_TEST, {**given, "due_at": now_in_milliseconds(tx) + A_MINUTE})
    (row,) = tx.rows(ONE, (delivery_id,))
    return Due(*row)


AT_ONCE: Final = 5000
SKIP_ALL: Final = """
    UPDATE webhook_deliveries SET status = 'skipped', due_at = NULL, skipped_because = :because
    WHERE id IN (
        SELECT id FROM webhook_deliveries INDEXED BY webhook_deliveries_open
        WHERE status IN ('pending', 'held')
        ORDER BY entity DESC, entity_id DESC, subscription_id DESC, id DESC
        LIMIT :limit
    )
"""
"""The SQL that skips open deliveries. For each entity, it skips the latest deliveries first. If it reaches the
limit, the earliest deliveries stay open. So no held delivery waits for a skipped one.
"""
SKIP: Final = """
    UPDATE webhook_deliveries SET status = 'skipped', due_at = NULL, skipped_because = :because
    WHERE status = 'pending' AND id IN (SELECT value FROM json_each(:ids))
"""
RELEASE: Final = """
    UPDATE webhook_deliveries SET status = 'pending', due_at = :now
    WHERE status = 'held' AND id IN (
        SELECT (
            SELECT first.id FROM webhook_deliveries AS first INDEXED BY webhook_deliveries_open
            WHERE first.subscription_id = done.subscription_id AND first.entity = done.entity
                AND first.entity_id = done.entity_id AND first.status IN ('pending', 'held')
            ORDER BY first.id LIMIT 1
        )
        FROM webhook_deliveries AS done WHERE done.id IN (SELECT value FROM json_each(:ids))
    )
    RETURNING subscription_id
"""


def skip_all(tx: Transaction, because: str) -> int:
    """Skip open deliveries of all subscriptions, a limited number per call. Return how many were skipped."""
    return tx.execute(SKIP_ALL, {"because": because, "limit": AT_ONCE}).rowcount


def skip(tx: Transaction, delivery_ids: Sequence[int], because: str) -> None:
    tx.execute(SKIP, {"because": because, "ids": dumps(delivery_ids)})
    release_next(tx, delivery_ids)


def release_next(tx: Transaction, done: Sequence[int]) -> set[int]:
    """Make the next held delivery due for each entity of the deliveries `done`. Call this after these deliveries
    have ended.

    Return the ids of the subscriptions whose deliveries became due.
    """
    return {
        subscription_id
        for (subscription_id,) in tx.rows(RELEASE, {"ids": dumps(done), "now": now_in_milliseconds(tx)})
    }


OWN_WAIT: Final = " ".join(f"WHEN {left} THEN {wait}" for left, wait in enumerate(reversed(WAITS), start=1))
CLAMP: Final = f"""
    UPDATE webhook_deliveries SET due_at = :now + CASE attempts_left {OWN_WAIT} ELSE 0 END
    WHERE due_at > :now + CASE attempts_left {OWN_WAIT} ELSE 0 END AND test_event IS NULL
        AND subscription_id IN (SELECT id FROM webhook_subscriptions)
"""


def clamp(tx: Transaction) -> int:
    """Correct deliveries whose due time is too far in the future, because the clock was set back. They become due
    earlier. Return how many deliveries were changed.
    """
    return tx.execute(CLAMP, {"now": now_in_milliseconds(tx)}).rowcount
