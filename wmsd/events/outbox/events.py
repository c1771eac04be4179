"""All events (specification, section 6), and how wmsd records an event."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from wmsd.base import timestamps
from wmsd.contract.bulk_imports import CHUNK
from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.deliveries import queue_at_commit

EVENTS: Final[dict[str, str]] = {
    "article.created": "An article was created; data is the record.",
    "article.updated": "An article was changed; data is the record.",
    "article.deleted": "The undo of an import deleted an article; data is the record before the deletion.",
    "sales_order.created": "A sales order was created; data is the record.",
    "sales_order.updated": "A sales order was changed; data is the record.",
    "sales_order.status_changed": "A sales order moved to another status.",
    "purchase_order.created": "A purchase order was created; data is the record.",
    "purchase_order.updated": "A purchase order was changed; data is the record.",
    "purchase_order.status_changed": "A purchase order moved to another status.",
    "reception.created": "A reception was created; data is the record.",
    "reception.updated": "A reception was changed; data is the record.",
    "reception.partial": "Goods arrived, but the purchase order is not complete yet.",
    "reception.status_changed": "A reception moved to another status.",
    "return.created": "A return was created; data is the record.",
    "return.updated": "A return was changed; data is the record.",
    "return.status_changed": "A return moved to another status.",
    "count.created": "A stock count was created; data is the record.",
    "count.updated": "A stock count was changed; data is the record, with the changed lines.",
    "count.status_changed": "A stock count moved to another status.",
    "stock.updated": "The stock of an article in a warehouse changed; one event per transaction.",
    "stock.low": "The available stock of an article fell to its min_stock or below.",
    "packaging.movement_recorded": "Returnable packaging came in or went out.",
}

TEST_EVENT: Final = "webhook.test"
"""The name of the event that tests a webhook. A test event is sent like other events, but it is not in the event
log.
"""
TIME_DIGITS: Final = 12
"""The number of hexadecimal digits at the start of an event's id. These digits are the time of the event."""
ID = "? || lower(hex(randomblob(10)))"
"""The SQL of an event's id: the time, then random digits, as in UUID version 7 (RFC 9562). New ids are therefore
added at the end of the index.
"""
ID_OF_MANY = ":time || printf('%06x', row_number() OVER ()) || lower(hex(randomblob(7)))"
"""The SQL of the ids of events with the same time. A counter stands before the random digits, so that new ids are
still added at the end of the index.
"""
RECORD = f"INSERT INTO events (id, event, entity, entity_id, occurred_at, data) VALUES ({ID}, ?, ?, ?, ?, ?)"
RECORD_MANY = f"""
    INSERT INTO events (id, event, entity, entity_id, occurred_at, data)
    SELECT {ID_OF_MANY}, :event, :entity, entity_id, :occurred_at, data
"""
COUNT_FOR_BILLING = """
    INSERT INTO event_counts (month, event, count) VALUES (?, ?, ?)
    ON CONFLICT (month, event) DO UPDATE SET count = count + excluded.count
"""


def record_event(tx: Transaction, event: str, entity_id: int, data: str) -> None:
    """Record an event. `data` is the JSON text of the payload's data. The events of a unit of work are written
    together at the end of the unit.
    """
    waiting = _waiting(tx)
    waiting.append((event, entity_id, data))
    if len(waiting) >= CHUNK:
        _write(tx, waiting)


def record_events(tx: Transaction, event: str, rows: str, parameters: Mapping[str, object]) -> None:
    """Record an event for each row of the SELECT `rows`, in one statement. The SELECT returns the columns
    entity_id and data. Imports use this.
    """
    _write(tx, _waiting(tx))  # keeps the events in their order
    inserted = tx.execute(
        f"{RECORD_MANY} FROM ({rows})",
        {
            **parameters,
            "time": _time(tx),
            "event": event,
            "entity": _entity(event),
            "occurred_at": tx.timestamp,
        },
    )
    if inserted.rowcount:
        assert inserted.lastrowid is not None
        _recorded(tx, {event: inserted.rowcount}, inserted.lastrowid)


def _waiting(tx: Transaction) -> list[tuple[str, int, str]]:
    return tx.at_last("events", lambda waiting: _write(tx, waiting), list[tuple[str, int, str]])


def _write(tx: Transaction, waiting: list[tuple[str, int, str]]) -> None:
    if not waiting:
        return
    time, now = _time(tx), tx.timestamp
    tx.executemany(
        RECORD, [(time, event, _entity(event), entity_id, now, data) for event, entity_id, data in waiting]
    )
    _recorded(tx, Counter(event for event, _, _ in waiting), tx.value("SELECT last_insert_rowid()"))
    waiting.clear()


def _time(tx: Transaction) -> str:
    """Return the time of the transaction as the start of an event's id: milliseconds since 1970, in hexadecimal
    digits.
    """
    return f"{timestamps.microseconds(tx.now) // 1000:0{TIME_DIGITS}x}"


def _entity(event: str) -> str:
    assert event in EVENTS, event
    return event.partition(".")[0]


def _recorded(tx: Transaction, events: Mapping[str, int], last: int) -> None:
    """Add the written events to the counts for billing, and queue their deliveries at the commit.

    `events` has the number of written events by event name. `last` is the sequence of the last written event.
    """
    queue_at_commit(tx, last - sum(events.values()) + 1)
    counts = tx.at_last("event counts", lambda gathered: _write_counts(tx, gathered), Counter[str])
    counts.update(events)


def _write_counts(tx: Transaction, counts: Counter[str]) -> None:
    month = tx.timestamp[:7]
    tx.executemany(COUNT_FOR_BILLING, [(month, event, count) for event, count in counts.items()])
