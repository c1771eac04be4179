"""The SQL of sales orders."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.contract.list_queries import QueryId
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory.store import CLIENTS, PARTNERS, WAREHOUSES
from wmsd.warehouse.documents.document_lines import LineTable
from wmsd.warehouse.documents.table import DocumentTable, Due
from wmsd.warehouse.sales_orders.schema import SalesOrder, SalesOrderFields, SalesOrderLine

ORDER_LINES: Final = LineTable(
    "sales_order_lines",
    "sales_order_id",
    ("article_id", "quantity", "warehouse_id", "lot_number", "serials"),
    SalesOrderLine,
)
ORDERS: Final = DocumentTable(
    noun="sales order",
    series="SO",
    body=SalesOrderFields,
    shown=SalesOrder,
    lines="lines",
    line_table=ORDER_LINES,
    references={"partner": PARTNERS, "warehouse": WAREHOUSES, "client": CLIENTS},
    filters={"partner_id": QueryId},
    payload=("partner_id", "warehouse_id"),
    due=Due("requested_date", ("CREAT", "IN_LUCRU")),
    by_article=True,
)

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
    """A line to ship, with its stock record and its quantity in millionths. `lot_number` and `serials` are those
    that the line names.
    """

    order_id: int
    line_id: int
    stock_id: int
    article_id: int
    quantity: int
    lot_number: str | None
    serials: str | None
    has_lots: bool
    """True if the stock record has any lots or serials."""


def loads(tx: Transaction, order_ids: Sequence[int]) -> list[Load]:
    """Return the lines to ship, order by order. In each order, the lines that name serials or a lot come first."""
    return [Load(*row) for row in tx.rows(LOADS, (dumps(list(order_ids)),))]
