"""The SQL of the stock changes that an import, or its undo, causes.

First, the changes are stored in temporary tables. Other writers need not wait for this. After that, a few
statements write all changes.

A place is an article in a warehouse. The places have the numbers 1, 2 and so on, in the order of the file.
Quantities are in signed millionths, and are added to the current quantities. A new stock record gets an id: the
last used id plus `number`. For an existing record, `number` is NULL.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import undo_rows
from wmsd.db.sql.change_sequence import updated_at_sql
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.parts import Amounts
from wmsd.warehouse.stock.schema import MovementKind, StockUpdated

TABLES: Final = (
    """
    CREATE TABLE {schema}.staged_stock (
        place INTEGER PRIMARY KEY, article_id, warehouse_id, stock_id, quantity, quarantined, moves, number,
        min_stock, data
    )
    """,
    """
    CREATE TABLE {schema}.staged_movements (
        place, part, article_id, quantity, quarantined, lot_number, serial, reason, line, quantity_before,
        quarantined_before, PRIMARY KEY (place, part)
    ) WITHOUT ROWID
    """,
    """
    CREATE INDEX {schema}.staged_movements_by_serial ON staged_movements (article_id, serial)
    WHERE serial IS NOT NULL
    """,
    """
    CREATE TABLE {schema}.staged_serials (
        article_id, serial, stock_id, lot_number, quarantined, is_held, PRIMARY KEY (article_id, serial)
    ) WITHOUT ROWID
    """,
)
"""The statements that create the temporary tables.

`moves` is true if the stock record has a movement. `quantity` may still be 0, if the changes of its lots add up to
0. `min_stock` is the minimum stock of the article. `data` has the data of the event `stock.updated`.
"""


def empty(tx: Transaction) -> None:
    for table in ("staged_stock", "staged_movements", "staged_serials"):
        tx.execute(f"DELETE FROM {table}")


class Record(NamedTuple):
    place: int
    article_id: int
    warehouse_id: int
    stock_id: int | None
    quantity: int
    quarantined: int
    moves: bool

    @classmethod
    def of(
        cls, place: int, article_id: int, warehouse_id: int, stock_id: int | None, moved: Sequence["Movement"]
    ) -> "Record":
        """Create a record whose quantities are the sums of its movements `moved`."""
        quantity, quarantined = sum(each.quantity for each in moved), sum(each.quarantined for each in moved)
        return cls(place, article_id, warehouse_id, stock_id, quantity, quarantined, bool(moved))


class Movement(NamedTuple):
    place: int
    part: int
    """The number of the movement. Movements with the same `place` are numbered separately."""
    article_id: int
    quantity: int
    quarantined: int
    lot_number: str | None
    serial: str | None
    reason: str
    line: int | None = None
    """The row of the file that names the goods. None if no row names them."""
    quantity_before: int = 0
    quarantined_before: int = 0


PUT_RECORD: Final = """
    INSERT OR REPLACE INTO staged_stock (place, article_id, warehouse_id, stock_id, quantity, quarantined, moves)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def put(tx: Transaction, records: Sequence[Record], movements: Sequence[Movement]) -> None:
    """Store stock records with all their movements. Replace a record that is already stored. After all calls of
    this function, call `complete`.
    """
    tx.executemany("DELETE FROM staged_movements WHERE place = ?", [(record.place,) for record in records])
    tx.executemany(PUT_RECORD, records)
    tx.executemany("INSERT INTO staged_movements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", movements)


NOTE_SERIALS: Final = """
    INSERT INTO staged_serials
    SELECT article_id, serial, stock_id, lot_number, quarantined, holder_id IS NOT NULL
    FROM json_each(?) AS counted CROSS JOIN stock_serials ON article_id = counted.value
"""
SERIALS_CHANGED: Final = """
    SELECT now.article_id
    FROM json_each(?) AS counted
    CROSS JOIN stock_serials AS now ON now.article_id = counted.value
    LEFT JOIN staged_serials AS noted ON noted.article_id = now.article_id AND noted.serial = now.serial
    WHERE noted.serial IS NULL OR (now.stock_id, now.lot_number, now.quarantined, now.holder_id IS NOT NULL)
        IS NOT (noted.stock_id, noted.lot_number, noted.quarantined, noted.is_held)
    UNION
    SELECT article_id FROM staged_serials AS noted WHERE NOT EXISTS (
        SELECT 1 FROM stock_serials AS now WHERE now.article_id = noted.article_id AND now.serial = noted.serial
    )
"""


def note_serials(tx: Transaction, article_ids: set[int]) -> None:
    """Store the current serials of the articles, in all warehouses."""
    ids = dumps(list(article_ids))
    tx.execute("DELETE FROM staged_serials WHERE article_id IN (SELECT value FROM json_each(?))", (ids,))
    tx.execute(NOTE_SERIALS, (ids,))


def articles_of_changed_serials(tx: Transaction, article_ids: set[int]) -> set[int]:
    """Return the articles whose serials have changed since the call of `note_serials`. A serial has changed if its
    warehouse, lot, reservation or quarantine is different.
    """
    return {article_id for (article_id,) in tx.rows(SERIALS_CHANGED, (dumps(list(article_ids)),))}


SERIALS_ELSEWHERE: Final = """
    SELECT moved.line, moved.serial, warehouses.code
    FROM staged_movements AS moved
    CROSS JOIN articles ON articles.id = moved.article_id AND articles.track_serial
    CROSS JOIN stock_serials AS there ON there.article_id = moved.article_id AND there.serial = moved.serial
    CROSS JOIN stock ON stock.id = there.stock_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
    WHERE moved.serial IS NOT NULL AND moved.quantity > 0 AND NOT EXISTS (
        SELECT 1 FROM staged_movements AS leaving CROSS JOIN staged_stock AS gone ON gone.place = leaving.place
        WHERE leaving.article_id = moved.article_id AND leaving.serial = moved.serial AND leaving.quantity < 0
            AND gone.warehouse_id = stock.warehouse_id
    )
"""


def serials_elsewhere(tx: Transaction) -> Iterator[tuple[int, str, str]]:
    """Yield the serials that would be in stock in two warehouses: they enter one warehouse, but do not leave
    another one.

    Each item has the row of the file, the serial, and the warehouse code. This is the warehouse that the serial
    does not leave.
    """
    return ((line, serial, code) for line, serial, code in tx.execute(SERIALS_ELSEWHERE))


def count_movements(tx: Transaction) -> tuple[int, int]:
    """Return two numbers: how many movements are staged, and how many of them belong to a row of the file."""
    (counted,) = tx.rows("SELECT count(*), count(line) FROM staged_movements")
    return counted[0], counted[1]


TOLD: Final = """
    SELECT article_code, warehouse_code, lot_number, serial, quantity_before, quarantined_before, quantity,
        quarantined
    FROM staged_movements CROSS JOIN staged_places USING (place) ORDER BY place, part
"""


def movements_of_count(tx: Transaction) -> Iterator[tuple[str, str, str | None, str | None, Amounts, Amounts]]:
    """Return the changes of a count in a file.

    Each item has the codes of article and warehouse, the lot, the serial, the quantities before the change, and
    the differences.
    """
    return (
        (*named, Amounts(quantity, quarantined), Amounts(more, more_quarantined))
        for *named, quantity, quarantined, more, more_quarantined in tx.execute(TOLD)
    )


NUMBER: Final = """
    UPDATE staged_stock SET number = missing.number
    FROM (
        SELECT place, row_number() OVER (ORDER BY place) AS number FROM staged_stock WHERE stock_id IS NULL
    ) AS missing
    WHERE staged_stock.place = missing.place
"""
AFTER: Final = {
    "article_code": "articles.code",
    "article_id": "staged_stock.article_id",
    "warehouse_id": "staged_stock.warehouse_id",
    "quantity": "(coalesce(stock.quantity, 0) + staged_stock.quantity)",
    "available": """(coalesce(stock.quantity - stock.reserved - stock.quarantined, 0)
        + staged_stock.quantity - staged_stock.quarantined)""",
}
TELL: Final = f"""
    UPDATE staged_stock SET (min_stock, data) = (
        SELECT articles.min_stock, {record_sql(StockUpdated, AFTER)}
        FROM articles LEFT JOIN stock ON stock.id = staged_stock.stock_id
        WHERE articles.id = staged_stock.article_id
    )
    WHERE data IS NULL AND moves
"""


def complete(tx: Transaction) -> None:
    """Fill in the columns that depend on the company's current data: the numbers of new stock records, `min_stock`
    and `data`.
    """
    tx.execute(NUMBER)
    tx.execute(TELL)


STOCK_ID: Final = "coalesce(stock_id, :last_id + number)"
WRITTEN_AT: Final = updated_at_sql(":before + place")
OPEN: Final = f"""
    INSERT INTO stock
        (id, article_id, warehouse_id, quantity, quarantined, change_seq, created_at, updated_at)
    SELECT :last_id + number, article_id, warehouse_id, quantity, quarantined, :before + place, :now, {WRITTEN_AT}
    FROM staged_stock WHERE stock_id IS NULL AND place > :after AND place <= :until ORDER BY place
"""
CHANGE: Final = f"""
    UPDATE stock SET quantity = stock.quantity + staged.quantity,
        quarantined = stock.quarantined + staged.quarantined,
        change_seq = :before + place, updated_at = {WRITTEN_AT}
    FROM staged_stock AS staged
    WHERE stock.id = +staged.stock_id AND moves AND place > :after AND place <= :until
"""
"""Changes the balances of existing stock records.

The plus sign makes SQLite always start with the staged rows, even if its statistics suggest another order.
"""
SLICE: Final = 20_000
"""The maximum number of places per statement, because SQLite keeps the rows of a statement in memory."""
MOVE: Final = f"""
    INSERT INTO stock_movements
        (stock_id, quantity, kind, quarantined, lot_number, serial, reason, actor, occurred_at)
    SELECT {STOCK_ID}, moved.quantity, :kind, moved.quarantined, lot_number, serial, reason, :actor, :now
    FROM staged_movements AS moved CROSS JOIN staged_stock USING (place) ORDER BY moved.place, part
"""
OF_LOTS: Final = f"""
    SELECT {STOCK_ID} AS stock_id, lot_number, serial, moved.quantity, moved.quarantined
    FROM staged_movements AS moved CROSS JOIN staged_stock USING (place)
    WHERE lot_number IS NOT NULL OR serial IS NOT NULL ORDER BY moved.place, part
"""
UPDATED: Final = f"SELECT {STOCK_ID} AS entity_id, data FROM staged_stock WHERE moves ORDER BY place"
"""Selects the data of the event `stock.updated` for each stock record with a movement."""


def write(tx: Transaction, kind: MovementKind) -> int:
    """Write the staged balances and movements. Return the last id of a stock record before new records were
    created.

    Only `stock_ledger.py` calls this function.
    """
    last: int = tx.value("SELECT coalesce(max(place), 0) FROM staged_stock")
    last_id = undo_rows.last_id(tx, "stock")
    if last:
        moment = {"before": tx.next_changes(last)[0] - 1, "now": tx.timestamp, "last_id": last_id}
        for after in range(0, last, SLICE):
            slice_of = {**moment, "after": after, "until": after + SLICE}
            tx.execute(OPEN, slice_of)
            tx.execute(CHANGE, slice_of)
        tx.execute(MOVE, {"kind": kind, "actor": tx.actor.name, "now": tx.timestamp, "last_id": last_id})
    return last_id


def has_serials(tx: Transaction) -> bool:
    return tx.value("SELECT 1 FROM staged_movements WHERE serial IS NOT NULL LIMIT 1") is not None


def of_lots(tx: Transaction, last_id: int) -> Iterator[dict[str, Any]]:
    """Return the staged movements of lots and serials, in the order of their stock records. Each movement has the
    id of its stock record.

    `last_id` is the last id of a stock record before the import created new records.
    """
    names = ("stock_id", "lot_number", "serial", "quantity", "quarantined")
    return (dict(zip(names, row, strict=True)) for row in tx.execute(OF_LOTS, {"last_id": last_id}))
