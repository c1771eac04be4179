"""The SQL of the event log."""

from datetime import timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.base.results import CursorPage
from wmsd.db.listing import Listing
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.outbox.schema import Event, EventQuery

KEPT: Final = timedelta(days=90)
RECORD: Final = record_sql(Event, {"timestamp": "occurred_at"})
LISTING: Final = Listing(source="events", order="sequence", filters={"event": "event = :event"}, count="events")


def after(tx: Transaction, query: EventQuery, position: int) -> CursorPage:
    """The events that follow the position, in the order in which they were committed."""
    values = {name: value for name, value in query.filters().items() if name != "after"}
    return LISTING.after(tx, RECORD, query, position, values)


SEQUENCE_OF: Final = "SELECT sequence FROM events WHERE id = ?"


def sequence_of(tx: Transaction, event_id: str) -> int | None:
    found: int | None = tx.value(SEQUENCE_OF, (event_id,))
    return found


LAST_OLD: Final = """
    SELECT max(sequence) FROM (SELECT sequence, occurred_at FROM events ORDER BY sequence LIMIT :most)
    WHERE occurred_at < :until
"""
"""The last of the first: an event that a clock gone wrong has dated later goes with those around it."""
FORGET: Final = "DELETE FROM events WHERE sequence <= ?"
FORGOTTEN_AT_ONCE: Final = 5000


def forget_old(tx: Transaction) -> int:
    """Forgets some of the events that are older than is kept, from the oldest on; answers how many."""
    until = timestamps.to_text(tx.now - KEPT)
    last = tx.value(LAST_OLD, {"most": FORGOTTEN_AT_ONCE, "until": until})
    return 0 if last is None else tx.execute(FORGET, (last,)).rowcount
