"""The SQL that records the results of attempts. A few statements record any number of results.

Each statement costs a switch between threads. With a statement for each result, sending to a fast receiver is
slow.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.deliveries.due_store import now_in_milliseconds, release_next
from wmsd.events.webhooks.rules import GONE, SWITCHED_OFF_AFTER, Verdict, failing_milliseconds, verdict_of_attempt
from wmsd.events.webhooks.store import switch_off


class Result(NamedTuple):
    """The result of an attempt. `at` is its start time. `answer` is the first 2 kB of the answer. The headers are
    JSON text.
    """

    subscription_id: int
    delivery_id: int
    event: str
    at: str
    milliseconds: int
    status: int | None
    answer: str | None
    error: str | None
    is_success: bool
    url: str | None = None
    sent_headers: str | None = None
    answer_headers: str | None = None


class Judged(NamedTuple):
    """The result of an attempt, with its consequence for the delivery: `verdict` has the delivery's new status."""

    result: Result
    verdict: Verdict
    attempts: int
    attempts_left: int


OPEN: Final = """
    SELECT json_group_array(json_array(id, status, attempts, attempts_left))
    FROM webhook_deliveries
    WHERE id IN (SELECT value FROM json_each(?)) AND status IN ('pending', 'skipped')
"""
NOTE_ATTEMPTS: Final = """
    INSERT INTO webhook_attempts
        (delivery_id, number, at, milliseconds, status, answer, error, url, sent_headers, answer_headers)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
        value ->> 7, value ->> 8, value ->> 9
    FROM json_each(?)
"""
NOTE_VERDICTS: Final = """
    UPDATE webhook_deliveries
    SET status = found.value ->> 1, attempts = found.value ->> 2, attempts_left = found.value ->> 3,
        due_at = found.value ->> 4,
        skipped_because = iif(found.value ->> 1 = 'skipped', skipped_because, NULL)
    FROM json_each(?) AS found
    WHERE webhook_deliveries.id = found.value ->> 0
"""


def record(tx: Transaction, results: Sequence[Result]) -> set[int]:
    """Record the results of attempts, at most one for each delivery. If a delivery is finished, make the next held
    delivery of its entity due.

    Return the ids of the subscriptions in which a held delivery became due.
    """
    judged = _judged(tx, results)
    now = now_in_milliseconds(tx)
    tx.execute(NOTE_ATTEMPTS, (dumps([_attempt(each) for each in judged]),))
    tx.execute(NOTE_VERDICTS, (dumps([_verdict(each, now) for each in judged]),))
    released = release_next(tx, [each.result.delivery_id for each in judged if each.verdict.wait is None])
    for each in _visible_results(judged):
        _note_health(tx, each.result, _shown(each))
    return released


def _judged(tx: Transaction, results: Sequence[Result]) -> list[Judged]:
    """Return each result with the new status of its delivery, in the same order. If the delivery is no longer
    open, for example because its subscription was deleted, leave its result out.
    """
    rows = json.loads(tx.value(OPEN, (dumps([result.delivery_id for result in results]),)))
    found = {row[0]: row[1:] for row in rows}
    return [_judge(result, *found[result.delivery_id]) for result in results if result.delivery_id in found]


def _judge(result: Result, status: str, attempts: int, attempts_left: int) -> Judged:
    left = max(attempts_left - 1, 0)
    was_skipped = status == "skipped" and not result.is_success  # skipped while it was being sent
    became = Verdict("skipped") if was_skipped else verdict_of_attempt(result.is_success, left)
    return Judged(result, became, attempts + 1, left)


def _attempt(each: Judged) -> tuple[Any, ...]:
    result = each.result
    return (
        result.delivery_id,
        each.attempts,
        result.at,
        result.milliseconds,
        result.status,
        result.answer,
        result.error,
        result.url,
        result.sent_headers,
        result.answer_headers,
    )


def _verdict(each: Judged, now: int) -> tuple[Any, ...]:
    wait = each.verdict.wait
    due_at = None if wait is None else now + wait
    return (each.result.delivery_id, each.verdict.status, each.attempts, each.attempts_left, due_at)


def _visible_results(judged: Sequence[Judged]) -> Iterator[Judged]:
    """Return the results to store in the subscriptions, in the same order. If a success is followed by another
    success of the same subscription, leave out the first one, because the second one overwrites it.
    """
    following: dict[int, bool] = {}
    visible = []
    for each in reversed(judged):
        result = each.result
        if not (result.is_success and following.get(result.subscription_id, False)):
            visible.append(each)
        following[result.subscription_id] = result.is_success
    return reversed(visible)


def _shown(each: Judged) -> str:
    """Return the value of the subscription's field `last_delivery` as JSON text."""
    result = each.result
    return dumps(
        {
            "id": result.delivery_id,
            "event": result.event,
            "status": each.verdict.status,
            "attempted_at": result.at,
            "response_status": result.status,
            "error": result.error,
        }
    )


SUCCEEDED: Final = """
    UPDATE webhook_subscriptions
    SET last_delivery = ?, last_success_at = ?, failing_since = NULL, failing_milliseconds = 0,
        failing_counted_until = NULL
    WHERE id = ?
"""
FAILING: Final = """
    SELECT failing_milliseconds, failing_counted_until FROM webhook_subscriptions WHERE id = ?
"""
FAILED: Final = """
    UPDATE webhook_subscriptions
    SET last_delivery = ?, failing_since = coalesce(failing_since, ?), failing_milliseconds = ?,
        failing_counted_until = ?
    WHERE id = ?
"""
CHANGED_SINCE: Final = "SELECT changed_at > ?2 FROM webhook_subscriptions WHERE id = ?1"


def _note_health(tx: Transaction, result: Result, shown: str) -> None:
    if result.is_success:
        tx.execute(SUCCEEDED, (shown, result.at, result.subscription_id))
        return
    row = tx.row(FAILING, (result.subscription_id,))
    if row is None:
        return
    counted, counted_until = row
    failing = failing_milliseconds(counted, counted_until, result.at)
    tx.execute(FAILED, (shown, result.at, failing, result.at, result.subscription_id))
    if result.status == GONE:
        if not tx.value(CHANGED_SINCE, (result.subscription_id, result.at)):  # a change may have set a new URL
            switch_off(tx, result.subscription_id, "The receiver answered 410 Gone.")
    else:
        _switch_off_when_long(tx, result.subscription_id, failing)


STILL_FAILING: Final = """
    SELECT id, failing_milliseconds, failing_counted_until FROM webhook_subscriptions
    WHERE active AND credentials_missing_since IS NULL AND failing_since IS NOT NULL
"""
COUNTED: Final = """
    UPDATE webhook_subscriptions SET failing_milliseconds = ?, failing_counted_until = ? WHERE id = ?
"""


def count_failing(tx: Transaction) -> bool:
    """Update the failing time of each failing subscription: add the time since the last count. Do this even if
    there were no new attempts.

    Switch off each subscription that has failed for too long. Return True if any was switched off.
    """
    is_any_off = False
    for subscription_id, counted, until in tx.rows(STILL_FAILING):
        failing = failing_milliseconds(counted, until, tx.timestamp)
        tx.execute(COUNTED, (failing, tx.timestamp, subscription_id))
        is_any_off |= _switch_off_when_long(tx, subscription_id, failing)
    return is_any_off


PASS_OVER: Final = """
    UPDATE webhook_subscriptions SET failing_counted_until = ? WHERE active AND failing_since IS NOT NULL
"""


def pass_over(tx: Transaction) -> None:
    """Skip the time since the last count: it never counts as failing time.

    Call this while the company may not send, because its receivers cannot succeed during this time.
    """
    tx.execute(PASS_OVER, (tx.timestamp,))


def _switch_off_when_long(tx: Transaction, subscription_id: int, failing: int) -> bool:
    if failing < SWITCHED_OFF_AFTER.total_seconds() * 1000:
        return False
    switch_off(tx, subscription_id, f"No webhook delivery has succeeded for {SWITCHED_OFF_AFTER.days} days.")
    return True
