"""The floor of orders: bare SQLite that commits the same rows, one order a transaction, each with its sync.

    python -m benchmarks.orders_floor COMPANY.db BEFORE.db NEW.db SECONDS

It takes what the orders in COMPANY.db wrote (lines, reservations, balances, events, counts, idempotency records),
and writes it into a copy of BEFORE.db, which has everything but the orders. It prints orders a second.
"""

import shutil
import sys
import time
from pathlib import Path
from typing import Any, Final

from wmsd.db.sqlite import connect

MOST_A_SECOND: Final = 10_000
Statement = tuple[str, list[Any]]
"""An SQL text, and the rows that it runs with."""
SERIES: Final = "INSERT INTO series (name, last) VALUES ('SO', ?) ON CONFLICT DO UPDATE SET last = last + 1"
CHANGES: Final = "UPDATE change_sequence SET value = value + ?"
RESERVED: Final = "UPDATE stock SET reserved = reserved + ?, change_seq = ?, updated_at = ? WHERE id = ?"
COUNTS: Final = """
    INSERT INTO event_counts (month, event, count) VALUES ('2000-01', ?, ?)
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
    """Documents a second, each committed by itself."""
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
    """What each of the newest orders wrote: read before the time is taken."""
    newest = f"(SELECT id FROM sales_orders ORDER BY id DESC LIMIT {most})"
    chosen = f"sales_orders WHERE id IN {newest} ORDER BY id"
    orders = _by_order(source.execute(f"SELECT id, * FROM {chosen}"))
    moments = dict(source.execute(f"SELECT id, updated_at FROM {chosen}"))
    written = {
        "sales_order_lines": _written(source, "sales_order_lines", "sales_order_id", newest),
        "reservations": _written(source, "reservations", "holder_id", newest),
    }
    events = events_of(source, "sales_order.created", newest)
    keys = source.execute(f"SELECT * FROM idempotency_keys ORDER BY id DESC LIMIT {most}").fetchall()
    return [
        _statements(
            order_id,
            moments[order_id],
            order,
            {name: rows[order_id] for name, rows in written.items()},
            events[order_id],
            key,
        )
        for (order_id, order), key in zip(orders.items(), reversed(keys), strict=False)
    ]


def _statements(
    order_id: int, now: str, order: list[Any], written: dict[str, list[Any]], events: list[Any], key: Any
) -> list[Statement]:
    balances = [
        (quantity, 10**12 + order_id * 8 + place, now, stock_id)
        for place, (_, _, stock_id, quantity) in enumerate(written["reservations"])
    ]
    return [
        (SERIES, [(1,)]),
        (CHANGES, [(1 + len(balances),)]),
        insert("sales_orders", order),
        *(insert(table, rows) for table, rows in written.items()),
        (RESERVED, balances),
        insert("events", events),
        (COUNTS, [("sales_order.created", 1), ("stock.updated", len(balances))]),
        insert("idempotency_keys", [key]),
    ]


def _written(source: Any, table: str, order: str, newest: str) -> dict[int, list[Any]]:
    return _by_order(source.execute(f"SELECT {order}, * FROM {table} WHERE {order} IN {newest}"))


def events_of(source: Any, first: str, documents: str) -> dict[int, list[Any]]:
    """By document; those of one begin with the event `first` and go up to the next one's. `documents`: their ids,
    as SQL has them in `IN`.
    """
    begun = f"SELECT sequence FROM events WHERE event = '{first}' AND entity_id IN {documents}"
    found: dict[int, list[Any]] = {}
    document_id = 0
    for row in source.execute(f"SELECT * FROM events WHERE sequence >= (SELECT min(sequence) FROM ({begun}))"):
        _, _, event, _, entity_id, *_ = row
        document_id = entity_id if event == first else document_id
        found.setdefault(document_id, []).append(row)
    return found


def _by_order(rows: Any) -> dict[int, list[Any]]:
    """Rows by their first column, without it."""
    found: dict[int, list[Any]] = {}
    for order_id, *row in rows:
        found.setdefault(order_id, []).append(row)
    return found


def insert(table: str, rows: list[Any]) -> Statement:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows


if __name__ == "__main__":
    company, before, new, seconds = sys.argv[1:]
    print(rate(Path(company), Path(before), Path(new), float(seconds)))
