"""The SQL of sales orders."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wmsd.db.listing import Listing, Tally
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.documents.table import FILTERS, DocumentTable
from wmsd.sales_orders.rules import INITIAL, STATUSES
from wmsd.sales_orders.schema import SalesOrder, SalesOrderLine, SalesOrderStatusChanged

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
    fields=("code", "partner_id", "warehouse_id", "client_id", "external_ref", "notes", "requested_date"),
    record=record_sql(SalesOrder, {"lines": LINES}),
    told=SalesOrderStatusChanged,
    listing=Listing(
        source="sales_orders",
        order="id",
        filters={**FILTERS, "partner_id": "partner_id = :partner_id"},
        count="sales_orders",
        tally=Tally("sales_order_counts", STATUSES),
    ),
)

LINES_OF_ONE: Final = """
    SELECT id, article_id, quantity, warehouse_id FROM sales_order_lines WHERE sales_order_id = ? ORDER BY position
"""


def lines(tx: Transaction, order_id: int) -> list[dict[str, Any]]:
    """The stored lines in their order."""
    return tx.records(LINES_OF_ONE, (order_id,))


LOADS: Final = """
    SELECT line.id, stock.id, line.quantity
    FROM sales_order_lines AS line
    CROSS JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
    WHERE line.sales_order_id = ? ORDER BY line.position
"""


def loads(tx: Transaction, order_id: int) -> list[tuple[int, int, int]]:
    """Each line's id, the stock record that it is taken from, and its quantity."""
    return tx.rows(LOADS, (order_id,))


INSERT_LINE: Final = """
    INSERT INTO sales_order_lines (id, sales_order_id, position, article_id, quantity, warehouse_id)
    VALUES (?, ?, ?, ?, ?, ?)
"""


def insert_lines(tx: Transaction, order_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each with its own id, or a new one where that is None."""
    tx.executemany(
        INSERT_LINE,
        [
            (row["id"], order_id, position, row["article_id"], row["quantity"], row["warehouse_id"])
            for position, row in enumerate(rows)
        ],
    )


def replace_lines(tx: Transaction, order_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    tx.execute("DELETE FROM sales_order_lines WHERE sales_order_id = ?", (order_id,))
    insert_lines(tx, order_id, rows)
