"""The SQL of stock."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from wmsd.base.listing import CursorQuery, PageQuery
from wmsd.base.results import CursorPage, Page
from wmsd.db.listing import Listing
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.stock.schema import StockLow, StockRecord, StockUpdated

SOURCE: Final = """
    stock
    CROSS JOIN articles ON articles.id = stock.article_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
"""
"""CROSS keeps stock outermost: with statistics SQLite would begin with the few warehouses, and sort all stock."""
COLUMNS: Final = {
    "id": "stock.id",
    "article_code": "articles.code",
    "article_name": "articles.name",
    "warehouse_code": "warehouses.code",
    "available": "(stock.quantity - stock.reserved - stock.quarantined)",
    "min_stock": "articles.min_stock",
    "created_at": "stock.created_at",
    "updated_at": "stock.updated_at",
}
RECORD: Final = record_sql(StockRecord, COLUMNS)

LISTING: Final = Listing(
    source=SOURCE,
    order="stock.id",
    filters={
        "warehouse_id": "stock.warehouse_id = :warehouse_id",
        "article_id": "stock.article_id = :article_id",
        "updated_since": "stock.change_seq > :updated_since",
    },
    count="stock",
)


def page(tx: Transaction, query: PageQuery) -> Page:
    return LISTING.page(tx, RECORD, query, query.filters())


def after(tx: Transaction, query: CursorQuery, position: int) -> CursorPage:
    return LISTING.after(tx, RECORD, query, position, query.filters())


ALL: Final = f"SELECT {RECORD} FROM {SOURCE} ORDER BY stock.id"


def every(tx: Transaction) -> Iterator[str]:
    """Every stock record, one at a time: for exports."""
    return (row[0] for row in tx.execute(ALL))


FIND: Final = "SELECT id FROM stock WHERE article_id = ? AND warehouse_id = ?"
OPEN: Final = """
    INSERT INTO stock (article_id, warehouse_id, change_seq, created_at, updated_at)
    VALUES (:article_id, :warehouse_id, :change_seq, :now, :now)
"""


def id_of(tx: Transaction, article_id: int, warehouse_id: int) -> int:
    """The stock record of an article in a warehouse; opened empty when there is none yet."""
    found: int | None = tx.value(FIND, (article_id, warehouse_id))
    if found is not None:
        return found
    return tx.insert(
        OPEN,
        {
            "article_id": article_id,
            "warehouse_id": warehouse_id,
            "change_seq": tx.next_change(),
            "now": tx.timestamp,
        },
    )


BALANCE: Final = "SELECT quantity, reserved, quarantined FROM stock WHERE id = ?"


def balance(tx: Transaction, stock_id: int) -> dict[str, Any]:
    """quantity, reserved and quarantined, in millionths."""
    found = tx.record(BALANCE, (stock_id,))
    assert found is not None, stock_id
    return found


ADD_TO_BALANCE: Final = """
    UPDATE stock SET quantity = quantity + :quantity, quarantined = quarantined + :quarantined,
        change_seq = :change_seq, updated_at = :now
    WHERE id = :stock_id
"""
ADD_TO_LEDGER: Final = """
    INSERT INTO stock_movements (stock_id, quantity, quarantined, lot_number, serial, kind, document_id,
        document_line_id, reason, actor, occurred_at)
    VALUES (:stock_id, :quantity, :quarantined, :lot_number, :serial, :kind, :document_id,
        :document_line_id, :reason, :actor, :now)
"""


def post(tx: Transaction, movement: dict[str, object]) -> None:
    """Writes a movement into the ledger and adds it to the balance: never one without the other."""
    row = {**movement, "change_seq": tx.next_change(), "now": tx.timestamp, "actor": tx.actor.name}
    tx.execute(ADD_TO_BALANCE, row)
    tx.execute(ADD_TO_LEDGER, row)


AVAILABLE: Final = "SELECT quantity - reserved - quarantined FROM stock WHERE id = ?"


def available(tx: Transaction, stock_id: int) -> int:
    found: int = tx.value(AVAILABLE, (stock_id,))
    return found


AVAILABLE_AT: Final = """
    SELECT id, quantity - reserved - quarantined FROM stock WHERE article_id = ? AND warehouse_id = ?
"""


def available_at(tx: Transaction, article_id: int, warehouse_id: int) -> tuple[int | None, int]:
    """The stock record's id, None when there is none yet, and what is available in millionths."""
    found = tx.row(AVAILABLE_AT, (article_id, warehouse_id))
    return (None, 0) if found is None else (found[0], found[1])


HELD: Final = "SELECT stock_id, quantity FROM reservations WHERE sales_order_id = ?"


def held(tx: Transaction, sales_order_id: int) -> dict[int, int]:
    """What the order holds, by stock id."""
    return dict(tx.rows(HELD, (sales_order_id,)))


ADD_TO_RESERVED: Final = "UPDATE stock SET reserved = reserved + ?, change_seq = ?, updated_at = ? WHERE id = ?"


def change_reserved(tx: Transaction, changes: Mapping[int, int]) -> None:
    if changes:
        first = tx.next_change(len(changes)) - len(changes) + 1
        tx.executemany(
            ADD_TO_RESERVED,
            [
                (change, first + place, tx.timestamp, stock_id)
                for place, (stock_id, change) in enumerate(changes.items())
            ],
        )


RESERVE: Final = """
    INSERT INTO reservations (sales_order_id, stock_id, quantity) VALUES (?, ?, ?)
    ON CONFLICT (sales_order_id, stock_id) DO UPDATE SET quantity = excluded.quantity
"""
RELEASE: Final = "DELETE FROM reservations WHERE sales_order_id = ? AND stock_id = ?"


def write_reservations(tx: Transaction, sales_order_id: int, quantities: Mapping[int, int]) -> None:
    """What the order now holds of each record; 0 is no reservation."""
    tx.executemany(RESERVE, [(sales_order_id, stock_id, held) for stock_id, held in quantities.items() if held])
    tx.executemany(RELEASE, [(sales_order_id, stock_id) for stock_id, held in quantities.items() if not held])


TOLD: Final = f"""
    SELECT {record_sql(StockUpdated, COLUMNS)}, {COLUMNS["available"]}, articles.min_stock, stock.is_low
    FROM {SOURCE} WHERE stock.id = ?
"""
LOW: Final = f"SELECT {record_sql(StockLow, COLUMNS)} FROM {SOURCE} WHERE stock.id = ?"
MARK_LOW: Final = "UPDATE stock SET is_low = ? WHERE id = ?"


def told(tx: Transaction, stock_id: int) -> tuple[str, int, int | None, bool]:
    """The data of `stock.updated`; available and min_stock in millionths; whether it was low before."""
    found = tx.row(TOLD, (stock_id,))
    assert found is not None, stock_id
    return found[0], found[1], found[2], bool(found[3])


def low_data(tx: Transaction, stock_id: int) -> str:
    text: str = tx.value(LOW, (stock_id,))
    return text


def mark_low(tx: Transaction, stock_id: int, is_low: bool) -> None:
    tx.execute(MARK_LOW, (int(is_low), stock_id))
