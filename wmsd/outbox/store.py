"""The SQL of the event log."""

from datetime import timedelta
from typing import Final

from wmsd.base.results import CursorPage
from wmsd.db import retention
from wmsd.db.listing import FEW_AT_ONCE, Listing, conditions
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.outbox.schema import Event, EventQuery

KEPT: Final = timedelta(days=90)
RECORD: Final = record_sql(Event, {"timestamp": "occurred_at"})
LISTING: Final = Listing(
    source="events",
    order="sequence",
    filters=conditions(EventQuery, after=""),  # an event's id; its sequence is looked up
    count="events",
    at_once=FEW_AT_ONCE,
)


def after(tx: Transaction, query: EventQuery, position: int) -> CursorPage:
    """The events after the position, in the order in which they were committed."""
    values = {name: value for name, value in query.filters().items() if name != "after"}
    return LISTING.after(tx, RECORD, query, position, values)


COUNTS: Final = """
    SELECT month, event, count FROM event_counts WHERE month = coalesce(:month, month) ORDER BY month, event
"""


def counts(tx: Transaction, month: str | None = None) -> dict[str, dict[str, int]]:
    """The number of events, by month (`2026-11`, in UTC) and name. Each counts once, with or without a webhook."""
    found: dict[str, dict[str, int]] = {}
    for of_month, event, count in tx.rows(COUNTS, {"month": month}):
        found.setdefault(of_month, {})[event] = count
    return found


SEQUENCE_OF: Final = "SELECT sequence FROM events WHERE id = ?"


def sequence_of(tx: Transaction, event_id: str) -> int | None:
    found: int | None = tx.value(SEQUENCE_OF, (event_id,))
    return found


def forget_old(tx: Transaction) -> int:
    """Deletes some of the events that are older than KEPT; answers how many."""
    return retention.forget_old(tx, "events", "sequence", "occurred_at", KEPT)
