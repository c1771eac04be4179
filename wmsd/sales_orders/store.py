"""The SQL of sales orders."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.listing import Tally
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.documents.table import DocumentTable
from wmsd.sales_orders.rules import INITIAL, STATUSES
from wmsd.sales_orders.schema import (
    SalesOrder,
    SalesOrderFields,
    SalesOrderFilters,
    SalesOrderLine,
    SalesOrderStatusChanged,
)

LINE: Final = record_sql(
    SalesOrderLine,
    {
        "id": "line.id",
        "article_code": "articles.code",
        "quantity": "line.quantity",
        "warehouse_id": "line.warehouse_id",
    },
)
LINES: Final = f"""(
    SELECT json_group_array({LINE} ORDER BY line.position)
    FROM sales_order_lines AS line CROSS JOIN articles ON articles.id = line.article_id
    WHERE line.sales_order_id = sales_orders.id
)"""
ORDERS: Final = DocumentTable(
    noun="sales order",
    name="sales_orders",
    series="SO",
    initial=INITIAL,
    body=SalesOrderFields,
    shown=SalesOrder,
    lines="lines",
    lines_sql=LINES,
    told=SalesOrderStatusChanged,
    filters=SalesOrderFilters,
    tally=Tally("sales_order_counts", STATUSES),
)

LINES_OF_ONE: Final = """
    SELECT id, article_id, quantity, warehouse_id, lot_number, serials
    FROM sales_order_lines WHERE sales_order_id = ? ORDER BY position
"""


def lines(tx: Transaction, order_id: int) -> list[dict[str, Any]]:
    """The stored lines in their order."""
    return tx.records(LINES_OF_ONE, (order_id,))


LOADS: Final = """
    SELECT line.sales_order_id, line.id, stock.id, line.article_id, line.quantity, line.lot_number, line.serials,
        EXISTS (SELECT 1 FROM stock_lots WHERE stock_id = stock.id AND quantity > 0)
            OR EXISTS (SELECT 1 FROM stock_serials WHERE stock_id = stock.id)
    FROM json_each(?) AS wanted
    CROSS JOIN sales_order_lines AS line ON line.sales_order_id = wanted.value
    CROSS JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
    ORDER BY wanted.key, line.serials IS NULL, line.lot_number IS NULL, line.position
"""


class Load(NamedTuple):
    """A line of an order, the stock record that it is taken from, how much, and of what."""

    order_id: int
    line_id: int
    stock_id: int
    article_id: int
    quantity: int
    lot_number: str | None
    serials: str | None
    has_lots: bool
    """Whether the record has lots or serials at all."""


def loads(tx: Transaction, order_ids: Sequence[int]) -> list[Load]:
    """What is to leave for each order in turn: lines that name serials or a lot first."""
    return [Load(*row) for row in tx.rows(LOADS, (dumps(list(order_ids)),))]


INSERT_LINE: Final = """
    INSERT INTO sales_order_lines
        (id, sales_order_id, position, article_id, quantity, warehouse_id, lot_number, serials)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
OF_A_LINE: Final = ("article_id", "quantity", "warehouse_id", "lot_number", "serials")


def insert_lines(tx: Transaction, lines_of: Mapping[int, Sequence[Mapping[str, Any]]]) -> None:
    """By the ids of their orders. Each with its own id, or a new one where that is None."""
    tx.executemany(
        INSERT_LINE,
        [
            (row["id"], order_id, position, *[row[name] for name in OF_A_LINE])
            for order_id, rows in lines_of.items()
            for position, row in enumerate(rows)
        ],
    )


def replace_lines(tx: Transaction, order_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    tx.execute("DELETE FROM sales_order_lines WHERE sales_order_id = ?", (order_id,))
    insert_lines(tx, {order_id: rows})
