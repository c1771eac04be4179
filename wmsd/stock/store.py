"""The SQL of stock."""

from collections.abc import Iterator
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


BALANCE: Final = f"""
    SELECT stock.id, stock.quantity, stock.reserved, stock.quarantined, stock.is_low, articles.min_stock,
        {COLUMNS["available"]} AS available
    FROM {SOURCE} WHERE stock.id = ?
"""


def balance(tx: Transaction, stock_id: int) -> dict[str, Any]:
    """quantity, reserved, quarantined, available and min_stock in millionths, and is_low."""
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


UPDATED: Final = f"SELECT {record_sql(StockUpdated, COLUMNS)} FROM {SOURCE} WHERE stock.id = ?"
LOW: Final = f"SELECT {record_sql(StockLow, COLUMNS)} FROM {SOURCE} WHERE stock.id = ?"
MARK_LOW: Final = "UPDATE stock SET is_low = ? WHERE id = ?"


def updated_data(tx: Transaction, stock_id: int) -> str:
    text: str = tx.value(UPDATED, (stock_id,))
    return text


def low_data(tx: Transaction, stock_id: int) -> str:
    text: str = tx.value(LOW, (stock_id,))
    return text


def mark_low(tx: Transaction, stock_id: int, is_low: bool) -> None:
    tx.execute(MARK_LOW, (int(is_low), stock_id))
