"""The SQL of the event log."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.base.strict_json import dumps
from wmsd.contract.results import CursorPage, Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import epochs, retention
from wmsd.db.sql.epochs import Cut
from wmsd.db.sql.joined_records import number_that_fits
from wmsd.db.sql.lists import FEW_AT_ONCE, Listing, conditions
from wmsd.db.sql.records import record_sql
from wmsd.events.outbox.events import TEST_EVENT, TIME_DIGITS
from wmsd.events.outbox.schema import Event, EventQuery, LatestEventQuery

KEPT: Final = timedelta(days=90)
RECORD: Final = record_sql(Event, {"timestamp": "occurred_at"}, brief={"data": "NULL"})
LISTING: Final = Listing(
    source="events",
    order="sequence",
    filters=conditions(EventQuery) | {"not_before": "+occurred_at >= :not_before"},
    count="events",
    at_once=FEW_AT_ONCE,
)


def after(tx: Transaction, query: EventQuery, position: int) -> CursorPage:
    """Return the events after the position, in the order in which they were committed.

    The end position of the last page is the end of the log, even if the last events do not match the filters. A
    client that continues there therefore gets no error if wmsd has deleted these last events in the meantime.
    """
    values = query.filters()
    if (since := values.pop("since", None)) is not None:
        values["not_before"] = (
            since  # compared row by row: with the index of times, all later events would have to be sorted
        )
        if query.cursor is None:
            position = max(position, tx.value(FIRST_SINCE, (since,)) - 1)
    page = LISTING.after(tx, RECORD, query, position, values)
    return page if page.has_more else replace(page, end_position=last_sequence(tx))


BEFORE: Final = """
    SELECT sequence, {record} FROM events
    WHERE sequence < :position AND sequence >= :first
        AND (:since IS NULL OR +occurred_at >= :since)
        AND (:events IS NULL OR event IN (SELECT value FROM json_each(:events)))
    ORDER BY sequence DESC LIMIT :limit
"""
BEYOND_ALL: Final = 2**62


def before(tx: Transaction, query: LatestEventQuery, position: int) -> CursorPage:
    """Return the events before the position, the newest first. Position 0 is the end of the log."""
    given = {
        "position": position or BEYOND_ALL,
        "first": 0 if query.since is None else tx.value(FIRST_SINCE, (query.since,)),
        "since": query.since,
        "events": None if query.event is None else dumps(query.event),
        "limit": query.per_page + 1,
    }
    found = tx.rows(BEFORE.format(record=RECORD.brief if tx.is_brief else RECORD), given)
    page = found[: number_that_fits([text for _, text in found[: query.per_page]])]
    records, positions = (",".join(texts) for texts in ([text for _, text in page], [str(id) for id, _ in page]))
    return CursorPage(records, page[-1][0] if page else position, len(found) > len(page), positions)


ONE: Final = f"SELECT sequence, {RECORD} FROM events WHERE id = ?"


def one(tx: Transaction, event_id: str) -> Record | None:
    """Return the event, or None if the log does not have it. The field `id` of the result is the sequence of the
    event.
    """
    found = tx.row(ONE, (event_id,))
    return None if found is None else Record(*found)


FIRST_SINCE: Final = """
    SELECT coalesce(min(sequence), (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'events'), 1)
    FROM events INDEXED BY events_by_time WHERE occurred_at >= ?
"""
"""The SQL of the lowest sequence among the events since a time. The earliest of these events may have a higher
sequence, because the clock may have been set back. If there are no such events, the result is the sequence that
the next event gets.
"""


OF_TEST: Final = f"""
    SELECT delivery.created_at FROM webhook_subscriptions AS subscription
    CROSS JOIN webhook_deliveries AS delivery INDEXED BY webhook_deliveries_by_event
        ON delivery.subscription_id = subscription.id AND delivery.event = '{TEST_EVENT}'
    WHERE delivery.test_event ->> 'id' = ?
"""


def place_of(tx: Transaction, event_id: str) -> int | None:
    """Return the position of the event. The position is a sequence, and every later event has a higher one. Return
    None if the id is unknown.

    The id of a test event is accepted too, because a test event can be the last event that a receiver has.
    """
    found = one(tx, event_id)
    if found is not None:
        return found.id
    tested_at = tx.value(OF_TEST, (event_id,))
    return None if tested_at is None else tx.value(FIRST_SINCE, (tested_at,)) - 1


def last_sequence(tx: Transaction) -> int:
    """Return the sequence of the last event ever recorded, or 0 if there was no event."""
    return tx.value("SELECT seq FROM sqlite_sequence WHERE name = 'events'") or 0


def is_gap_after(tx: Transaction, sequence: int) -> bool:
    """Return True if events directly after this sequence are already deleted."""
    first: int = tx.value("SELECT min(sequence) FROM events") or last_sequence(tx) + 1
    return sequence < first - 1 and not epochs.is_passed_over(tx, "events", sequence, first)


COUNTS: Final = """
    SELECT month, event, count FROM event_counts WHERE month = coalesce(:month, month) ORDER BY month, event
"""


def event_counts(tx: Transaction, month: str | None = None) -> dict[str, dict[str, int]]:
    """Return the number of events, by month (`2026-11`, in UTC) and event name. Each event counts once, with or
    without a webhook.
    """
    found: dict[str, dict[str, int]] = {}
    for of_month, event, count in tx.rows(COUNTS, {"month": month}):
        found.setdefault(of_month, {})[event] = count
    return found


def cut_of(tx: Transaction, event_id: str) -> Cut | None:
    """Return the cut that has removed the event with this id, or None if no cut has removed the event. A restore
    cuts the history: it removes the events after the backup.

    The id begins with the event's time. This time shows which cut removed the event.
    """
    try:
        moment = timestamps.from_microseconds(int(event_id[:TIME_DIGITS], 16) * 1000)
    except (ValueError, OverflowError):
        return None
    cuts = epochs.cuts(tx, "events")
    return next(
        (cut for cut in cuts if (cut.epoch.kept_up_to or "") <= moment <= (cut.epoch.began_at or "")), None
    )


def forget_old(tx: Transaction) -> int:
    """Delete events that are older than KEPT, a limited number per call. Return how many were deleted."""
    return retention.forget_old(tx, "events", "sequence", "occurred_at", KEPT)
