"""The SQL of sending: what is due, and what came of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.strict_json import dumps
from wmsd.db.transaction import Transaction
from wmsd.webhooks.rules import GONE, SWITCHED_OFF_AFTER, WAITS, Verdict, failing_milliseconds, verdict
from wmsd.webhooks.schema import TEST_EVENT


def milliseconds(tx: Transaction) -> int:
    """Now, since 1970."""
    return timestamps.microseconds(tx.now) // 1000


LOOK: Final = """
    SELECT id, EXISTS (
        SELECT 1 FROM webhook_deliveries WHERE subscription_id = subscription.id AND due_at <= :now
    ), (
        SELECT min(due_at) FROM webhook_deliveries WHERE subscription_id = subscription.id AND due_at > :now
    )
    FROM webhook_subscriptions AS subscription WHERE active
"""


class Look(NamedTuple):
    """The active subscriptions that have something to send now, and when something comes due after it.

    In milliseconds since 1970.
    """

    due_now: list[int]
    next_due: int | None


def look(tx: Transaction) -> Look:
    rows = tx.rows(LOOK, {"now": milliseconds(tx)})
    return Look(
        due_now=[subscription_id for subscription_id, is_due, _ in rows if is_due],
        next_due=min((later for _, _, later in rows if later is not None), default=None),
    )


class Target(NamedTuple):
    """Where a subscription's deliveries go, and how they are authenticated; credentials are sealed."""

    subscription_id: int
    active: int
    url: str
    auth_type: str
    credentials: str
    previous_secret: str | None
    previous_secret_expires_at: str | None


TARGET: Final = """
    SELECT id, active, url, auth_type, credentials, previous_secret, previous_secret_expires_at
    FROM webhook_subscriptions WHERE id = ?
"""


def target(tx: Transaction, subscription_id: int) -> Target | None:
    row = tx.row(TARGET, (subscription_id,))
    return None if row is None else Target(*row)


class Due(NamedTuple):
    """A delivery as it is sent. What its event was, nobody knows any more when `body` is None."""

    id: int
    sequence: int
    attempts: int
    event_id: str | None
    event: str | None
    body: str | None


BODY: Final = """'{"event":"' || events.event || '","timestamp":"' || events.occurred_at || '","data":' """
DUE: Final = f"""
    SELECT delivery.id, delivery.sequence, delivery.attempts,
        coalesce(events.id, test_event ->> 'id'), coalesce(events.event, test_event ->> 'event'),
        coalesce({BODY} || events.data || '}}', test_event ->> 'body')
    FROM webhook_deliveries AS delivery LEFT JOIN events ON events.sequence = delivery.event_sequence
"""
DUE_NOW: Final = f"""
    {DUE} WHERE delivery.subscription_id = :subscription_id AND due_at <= :now
        AND delivery.id NOT IN (SELECT value FROM json_each(:taken))
    ORDER BY due_at, delivery.id LIMIT :limit
"""
ONE: Final = f"{DUE} WHERE delivery.id = ?"


def due(tx: Transaction, subscription_id: int, taken: Sequence[int], limit: int) -> list[Due]:
    """What of the subscription is to be sent now and is not taken yet, the longest due first."""
    given = {
        "subscription_id": subscription_id,
        "now": milliseconds(tx),
        "taken": dumps(taken),
        "limit": limit,
    }
    return [Due(*row) for row in tx.rows(DUE_NOW, given)]


QUEUE_TEST: Final = """
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, test_event, entity, entity_id, status, attempts_left, due_at, created_at)
    SELECT id, last_sequence + 1, :event, 'webhook', id, 'pending', 1, :due_at, :now
    FROM webhook_subscriptions WHERE id = :id
"""
A_MINUTE: Final = 60_000


def queue_test(tx: Transaction, subscription_id: int) -> Due:
    """A test event, which its caller sends at once. Should it come to nothing, it is due in a minute."""
    body = {"event": TEST_EVENT, "timestamp": tx.timestamp, "data": {"webhook_id": subscription_id}}
    event = {"id": tx.ids.unique(), "event": TEST_EVENT, "timestamp": tx.timestamp, "body": dumps(body)}
    given = {"id": subscription_id, "event": dumps(event), "now": tx.timestamp}
    delivery_id = tx.insert(QUEUE_TEST, {**given, "due_at": milliseconds(tx) + A_MINUTE})
    row = tx.row(ONE, (delivery_id,))
    assert row is not None
    return Due(*row)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of an attempt; `at` is when it began, `answer` its first 2 kB."""

    subscription_id: int
    delivery_id: int
    event: str
    at: str
    milliseconds: int
    status: int | None
    answer: str | None
    error: str | None
    is_success: bool


OPEN: Final = """
    SELECT status, attempts, attempts_left, entity, entity_id FROM webhook_deliveries
    WHERE id = ? AND status IN ('pending', 'skipped')
"""
NOTE_ATTEMPT: Final = """
    INSERT INTO webhook_attempts (delivery_id, number, at, milliseconds, status, answer, error)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
NOTE_VERDICT: Final = """
    UPDATE webhook_deliveries
    SET status = ?1, attempts = ?2, attempts_left = ?3, due_at = ?4,
        skipped_because = iif(?1 = 'skipped', skipped_because, NULL)
    WHERE id = ?5
"""
FIRST_OPEN: Final = """
    SELECT id FROM webhook_deliveries
    WHERE subscription_id = ? AND entity = ? AND entity_id = ? AND status IN ('pending', 'held')
    ORDER BY id LIMIT 1
"""
RELEASE: Final = f"""
    UPDATE webhook_deliveries SET status = 'pending', due_at = ?
    WHERE id = ({FIRST_OPEN}) AND status = 'held'
"""


def record(tx: Transaction, results: Iterable[Result]) -> None:
    """Writes down what came of some attempts, and releases what was held behind those that are done."""
    for result in results:
        row = tx.row(OPEN, (result.delivery_id,))
        if row is not None:  # else its subscription is deleted
            status, attempts, attempts_left, entity, entity_id = row
            found = verdict(result.is_success, attempts_left := max(attempts_left - 1, 0))
            if status == "skipped" and not result.is_success:
                found = Verdict("skipped")  # it was under way then
            _record(tx, result, found, attempts + 1, attempts_left, entity, entity_id)


def _record(
    tx: Transaction,
    result: Result,
    found: Verdict,
    attempts: int,
    attempts_left: int,
    entity: str,
    entity_id: int,
) -> None:
    now = milliseconds(tx)
    due_at = None if found.wait is None else now + found.wait
    tx.execute(
        NOTE_ATTEMPT,
        (
            result.delivery_id,
            attempts,
            result.at,
            result.milliseconds,
            result.status,
            result.answer,
            result.error,
        ),
    )
    tx.execute(NOTE_VERDICT, (found.status, attempts, attempts_left, due_at, result.delivery_id))
    if found.wait is None:
        tx.execute(RELEASE, (now, result.subscription_id, entity, entity_id))
    shown = {
        "id": result.delivery_id,
        "event": result.event,
        "status": found.status,
        "attempted_at": result.at,
        "response_status": result.status,
        "error": result.error,
    }
    _note_health(tx, result, dumps(shown))


SUCCEEDED: Final = """
    UPDATE webhook_subscriptions
    SET last_delivery = ?, last_attempt_at = ?, failing_since = NULL, failing_milliseconds = 0
    WHERE id = ?
"""
FAILING: Final = """
    SELECT failing_since, failing_milliseconds, last_attempt_at FROM webhook_subscriptions WHERE id = ?
"""
FAILED: Final = """
    UPDATE webhook_subscriptions
    SET last_delivery = ?, last_attempt_at = ?, failing_since = coalesce(failing_since, ?),
        failing_milliseconds = ?
    WHERE id = ?
"""


def _note_health(tx: Transaction, result: Result, shown: str) -> None:
    if result.is_success:
        tx.execute(SUCCEEDED, (shown, result.at, result.subscription_id))
        return
    row = tx.row(FAILING, (result.subscription_id,))
    if row is None:
        return
    failing_since, failing, last_attempt_at = row
    if failing_since is not None:
        failing = failing_milliseconds(failing, _between(last_attempt_at, result.at))
    tx.execute(FAILED, (shown, result.at, result.at, failing, result.subscription_id))
    if result.status == GONE:
        if not tx.value(CHANGED_SINCE, (result.subscription_id, result.at)):  # else it may go elsewhere by now
            switch_off(tx, result.subscription_id, "The receiver answered 410 Gone.")
    elif failing >= SWITCHED_OFF_AFTER.total_seconds() * 1000:
        days = SWITCHED_OFF_AFTER.days
        switch_off(tx, result.subscription_id, f"Nothing has been delivered for {days} days.")


def _between(earlier: str, later: str) -> int:
    """Milliseconds."""
    delta = timestamps.microseconds(timestamps.from_text(later)) - timestamps.microseconds(
        timestamps.from_text(earlier)
    )
    return delta // 1000


CHANGED_SINCE: Final = "SELECT updated_at > ?2 FROM webhook_subscriptions WHERE id = ?1"
SWITCH_OFF: Final = """
    UPDATE webhook_subscriptions
    SET active = 0, switched_off_at = ?, switched_off_because = ?, is_switch_off_audited = 0, updated_at = ?
    WHERE id = ? AND active
"""
FORGET_TOPICS: Final = "DELETE FROM webhook_topics WHERE subscription_id = ?"


def switch_off(tx: Transaction, subscription_id: int, because: str) -> None:
    """Nothing is sent to it, nor queued for it, until somebody switches it on again."""
    tx.execute(SWITCH_OFF, (tx.timestamp, because, tx.timestamp, subscription_id))
    tx.execute(FORGET_TOPICS, (subscription_id,))


SWITCHED_OFF: Final = """
    SELECT id, name, switched_off_because, is_switch_off_audited FROM webhook_subscriptions
    WHERE switched_off_at IS NOT NULL AND NOT active
"""
NOTE_AUDITED: Final = "UPDATE webhook_subscriptions SET is_switch_off_audited = 1 WHERE id = ?"


class SwitchedOff(NamedTuple):
    """A subscription that the service itself has switched off."""

    id: int
    name: str
    because: str
    is_audited: int


def switched_off(tx: Transaction) -> list[SwitchedOff]:
    return [SwitchedOff(*row) for row in tx.rows(SWITCHED_OFF)]


def note_audited(tx: Transaction, subscription_ids: Iterable[int]) -> None:
    tx.executemany(NOTE_AUDITED, [(subscription_id,) for subscription_id in subscription_ids])


AT_ONCE: Final = 5000
SKIP_ALL: Final = """
    UPDATE webhook_deliveries SET status = 'skipped', due_at = NULL, skipped_because = :because
    WHERE id IN (
        SELECT delivery.id FROM webhook_subscriptions AS subscription
        CROSS JOIN webhook_deliveries AS delivery INDEXED BY webhook_deliveries_open
            ON delivery.subscription_id = subscription.id
        WHERE delivery.status IN ('pending', 'held')
        ORDER BY subscription.id DESC, delivery.entity DESC, delivery.entity_id DESC, delivery.id DESC
        LIMIT :limit
    )
"""
"""The latest of an entity first: should it be cut short, what is held is held behind an open one still."""
SKIP_ONE: Final = """
    UPDATE webhook_deliveries SET status = 'skipped', due_at = NULL, skipped_because = ?
    WHERE id = ? AND status = 'pending'
"""
ENTITY: Final = "SELECT subscription_id, entity, entity_id FROM webhook_deliveries WHERE id = ?"


def skip_all(tx: Transaction, because: str) -> int:
    """Some of what is open, of every subscription; how many."""
    return tx.execute(SKIP_ALL, {"because": because, "limit": AT_ONCE}).rowcount


def skip(tx: Transaction, delivery_ids: Sequence[int], because: str) -> None:
    for delivery_id in delivery_ids:
        tx.execute(SKIP_ONE, (because, delivery_id))
        entity = tx.row(ENTITY, (delivery_id,))
        if entity is not None:
            tx.execute(RELEASE, (milliseconds(tx), *entity))


OWN_WAIT: Final = " ".join(f"WHEN {left} THEN {wait}" for left, wait in enumerate(reversed(WAITS), start=1))
CLAMP: Final = f"""
    UPDATE webhook_deliveries SET due_at = :now + CASE attempts_left {OWN_WAIT} ELSE 0 END
    WHERE due_at > :now + CASE attempts_left {OWN_WAIT} ELSE 0 END AND test_event IS NULL
        AND subscription_id IN (SELECT id FROM webhook_subscriptions)
"""


def clamp(tx: Transaction) -> int:
    """Nothing waits for longer than its own back-off, though the clock was set back; how many would have."""
    return tx.execute(CLAMP, {"now": milliseconds(tx)}).rowcount
