"""The floor for orders: bare SQLite commits the same rows, one order per transaction, each with a sync.

    python -m benchmarks.orders_floor COMPANY.db BEFORE.db NEW.db SECONDS

The program reads what the orders in COMPANY.db wrote: lines, reservations, balances, events, counts, changes and
idempotency records. The program writes this into NEW.db, a copy of BEFORE.db, which has everything but the orders.
The program stops after SECONDS seconds, and prints the orders per second.
"""

import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from benchmarks.records import Record, Statement, by, insert, records
from wmsd.db.engine.sqlite import connect

MOST_A_SECOND: Final = 10_000
FIRST_CHANGE: Final = 10**12
"""The first change number of the floor. The real change sequence has no numbers as high."""
WRITTEN: Final = (
    # the table, its column with the order's id, a condition on its rows
    ("sales_order_lines", "sales_order_id", "true"),
    ("reservations", "holder_id", "holder_kind = 'sales_order'"),
    ("document_changes", "document_id", "kind = 'sales_order'"),
)
CREATED: Final = "sales_order.created"
SERIES: Final = "INSERT INTO series (name, last) VALUES ('SO', ?) ON CONFLICT DO UPDATE SET last = last + 1"
CHANGES: Final = "UPDATE change_sequence SET value = value + ?"
RESERVED: Final = "UPDATE stock SET reserved = reserved + ?, change_seq = ?, updated_at = ? WHERE id = ?"
COUNTS: Final = """
    INSERT INTO event_counts (month, event, count) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count
"""


def rate(company: Path, before: Path, new: Path, seconds: float) -> float:
    shutil.copyfile(before, new)
    source, target = connect(company), connect(new)
    orders = statements_of_orders(source, int(seconds * MOST_A_SECOND))
    found = committed(target, orders, seconds)
    for connection in (source, target):
        connection.close()
    return found


def committed(target: Any, documents: list[list[Statement]], most_seconds: float) -> float:
    """Commit the documents, each in a separate transaction, until `most_seconds` have passed. Return the documents
    per second.
    """
    started = time.perf_counter()
    done = 0
    for statements in documents:
        target.execute("BEGIN IMMEDIATE")
        for sql, rows in statements:
            target.executemany(sql, rows)
        target.execute("COMMIT")
        done += 1
        if time.perf_counter() - started > most_seconds:
            break
    return done / (time.perf_counter() - started)


def statements_of_orders(source: Any, most: int) -> list[list[Statement]]:
    """Return the statements that write each of the newest orders again: one list for each order, for at most
    `most` orders.

    The function reads all rows from `source` now, so that the measurement does not include the reading.
    """
    newest = f"(SELECT id FROM sales_orders ORDER BY id DESC LIMIT {most})"
    orders = records(source, f"SELECT * FROM sales_orders WHERE id IN {newest} ORDER BY id")
    written = {
        table: by(column, records(source, f"SELECT * FROM {table} WHERE {column} IN {newest} AND {which}"))
        for table, column, which in WRITTEN
    }
    events = events_of(source, CREATED, newest)
    keys = records(source, f"SELECT * FROM idempotency_keys ORDER BY id DESC LIMIT {most}")
    return [
        _statements(order, {name: rows[order["id"]] for name, rows in written.items()}, events[order["id"]], key)
        for order, key in zip(orders, reversed(keys), strict=False)
    ]


def _statements(
    order: Record, written: dict[str, list[Record]], events: list[Record], key: Record
) -> list[Statement]:
    balances = [
        (each["quantity"], FIRST_CHANGE + order["id"] * 8 + place, order["updated_at"], each["stock_id"])
        for place, each in enumerate(written["reservations"])
    ]
    return [
        (SERIES, [(1,)]),
        (CHANGES, [(1 + len(balances),)]),
        insert("sales_orders", [order]),
        *(insert(table, rows) for table, rows in written.items()),
        (RESERVED, balances),
        insert("events", events),
        counted(events),
        insert("idempotency_keys", [key]),
    ]


def events_of(source: Any, first: str, documents: str) -> dict[int, list[Record]]:
    """Return the events by the id of their document. The events of a document begin with the event `first` and end
    before the next such event.

    `documents` has the ids of the documents, as SQL for `IN`.
    """
    begun = f"SELECT min(sequence) FROM events WHERE event = '{first}' AND entity_id IN {documents}"
    found: dict[int, list[Record]] = {}
    document_id = 0
    for event in records(source, f"SELECT * FROM events WHERE sequence >= ({begun}) ORDER BY sequence"):
        document_id = event["entity_id"] if event["event"] == first else document_id
        found.setdefault(document_id, []).append(event)
    return found


def counted(events: list[Record]) -> Statement:
    """Return the statement that counts the events by month, as for billing."""
    counts = Counter((event["occurred_at"][:7], event["event"]) for event in events)
    return COUNTS, [(month, event, count) for (month, event), count in counts.items()]


if __name__ == "__main__":
    company, before, new, seconds = sys.argv[1:]
    print(rate(Path(company), Path(before), Path(new), float(seconds)))
