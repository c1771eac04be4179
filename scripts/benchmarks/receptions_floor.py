"""The floor for receptions: bare SQLite commits the same rows, each reception with a sync.

    python -m benchmarks.receptions_floor COMPANY.db BARE.db FIRST LAST

The program reads what the receptions FIRST to LAST in COMPANY.db wrote at FINALIZAT: stock records, movements,
balances, lots, items, orders, statuses, changes, events and counts. The program writes this into BARE.db, an
earlier copy with the drafts. Each row is written once, in its final state. The program prints the receptions per
second.
"""

import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.orders_floor import CHANGES, committed, counted, events_of
from benchmarks.records import Record, Statement, insert, records
from benchmarks.size import sized
from wmsd.db.engine.sqlite import connect

MOST_SECONDS: Final = 60.0
WARM_UP: Final = sized(10, 1)
OPEN: Final = """
    INSERT INTO stock (id, article_id, warehouse_id, quantity, change_seq, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
ADD: Final = "UPDATE stock SET quantity = quantity + ?, change_seq = ?, updated_at = ? WHERE id = ?"
ADD_LOT: Final = "INSERT INTO stock_lots (stock_id, lot_number, quantity) VALUES (?, ?, ?)"
POSTED: Final = "UPDATE reception_items SET quantity = ? WHERE id = ?"
RECEIVED: Final = "UPDATE purchase_order_items SET received_quantity = received_quantity + ? WHERE id = ?"
FIRST_CHANGE: Final = 9 * 10**15
MOVED: Final = f"""
    SELECT stock.id, article_id, warehouse_id, moved.quantity, {FIRST_CHANGE} + moved.id AS change_seq,
        occurred_at, lot_number
    FROM stock_movements AS moved CROSS JOIN stock ON stock.id = stock_id
    WHERE document_id = ? AND kind = 'receipt'
"""
MOVED_TO: Final = """
    SELECT * FROM document_changes
    WHERE kind IN ('reception', 'purchase_order') AND document_id = :id AND what = 'moved'
"""
OPENED: Final = ("id", "article_id", "warehouse_id", "quantity", "change_seq", "occurred_at", "occurred_at")
ADDED: Final = ("quantity", "change_seq", "occurred_at", "id")


def rate(company: Path, bare: Path, first: int, last: int) -> float:
    """Commit the receptions, and return how many per second. The first few fill the cache, and do not count."""
    source, target = connect(company), connect(bare)
    receptions = statements_of_receptions(source, target, first, last)
    committed(target, receptions[:WARM_UP], MOST_SECONDS)
    found = committed(target, receptions[WARM_UP:], MOST_SECONDS)
    for connection in (source, target):
        connection.close()
    return found


def statements_of_receptions(source: Any, target: Any, first: int, last: int) -> list[list[Statement]]:
    """Return the statements that write each of the receptions `first` to `last` again: one list for each
    reception.

    The function reads all rows now, so that the measurement does not include the reading. `target` shows which
    stock records exist already.
    """
    there = {stock_id for (stock_id,) in target.execute("SELECT id FROM stock")}
    documents = f"(SELECT id FROM receptions WHERE id BETWEEN {first} AND {last})"
    events = events_of(source, "reception.status_changed", documents)
    return [
        _statements(source, reception_id, there, events[reception_id])
        for reception_id in events
        if first <= reception_id <= last
    ]


def _statements(source: Any, reception_id: int, there: set[int], events: list[Record]) -> list[Statement]:
    """Return the statements of a reception. The reception and its purchase order have the same id.

    `there` has the ids of the stock records that exist before the receptions.
    """
    movements = records(
        source, "SELECT * FROM stock_movements WHERE document_id = ? AND kind = 'receipt'", (reception_id,)
    )
    moved = records(source, MOVED, (reception_id,))
    items = records(source, "SELECT * FROM reception_items WHERE reception_id = ?", (reception_id,))
    return [
        (CHANGES, [(len(moved) + 2,)]),
        (OPEN, [tuple(each[name] for name in OPENED) for each in moved if each["id"] not in there]),
        (ADD, [tuple(each[name] for name in ADDED) for each in moved if each["id"] in there]),
        insert("stock_movements", movements),
        (ADD_LOT, [(each["id"], each["lot_number"], each["quantity"]) for each in moved if each["lot_number"]]),
        (POSTED, [(item["quantity"], item["id"]) for item in items]),
        (RECEIVED, [(item["quantity"], item["po_item_id"]) for item in items]),
        _changed(source, "receptions", reception_id),
        _changed(source, "purchase_orders", reception_id),
        insert("events", events),
        insert("document_changes", records(source, MOVED_TO, {"id": reception_id})),
        counted(events),
    ]


def _changed(source: Any, table: str, document_id: int) -> Statement:
    names = ("status", "status_history", "change_seq", "updated_at")
    row = source.execute(f"SELECT {', '.join(names)}, id FROM {table} WHERE id = ?", (document_id,)).fetchone()
    return f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?", [row]


if __name__ == "__main__":
    company, bare, first, last = sys.argv[1:]
    print(rate(Path(company), Path(bare), int(first), int(last)))
