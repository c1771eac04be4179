"""The SQL of returns."""

import json
from collections import Counter
from dataclasses import field
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.list_queries import QueryId
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory.store import PARTNERS, WAREHOUSES
from wmsd.warehouse.documents.dependents import Dependent
from wmsd.warehouse.documents.document_lines import LineTable
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.returns.schema import Return, ReturnFields, ReturnLine
from wmsd.warehouse.sales_orders.store import ORDERS as SALES_ORDERS

RETURN_LINES: Final = LineTable(
    "return_lines", "return_id", ("article_id", "quantity", "disposition", "lot_number", "serials"), ReturnLine
)
RETURNS: Final = DocumentTable(
    noun="return",
    series="RT",
    body=ReturnFields,
    shown=Return,
    lines="lines",
    line_table=RETURN_LINES,
    references={"partner": PARTNERS, "warehouse": WAREHOUSES, "sales_order": SALES_ORDERS},
    filters={"partner_id": QueryId, "sales_order_id": QueryId},
    payload=("partner_id", "warehouse_id"),
)

OF_SALES_ORDERS: Final = """
    SELECT code FROM returns
    WHERE sales_order_id IN (SELECT value FROM json_each(:ids)) AND status <> 'ANULAT' ORDER BY id LIMIT 1
"""
DEPENDENTS: Final = (Dependent(SALES_ORDERS.name, OF_SALES_ORDERS),)

SHIPPED: Final = """
    SELECT article_id, sum(quantity) FROM sales_order_lines WHERE sales_order_id = ? GROUP BY article_id
"""
RETURNED: Final = """
    SELECT line.article_id, sum(line.quantity) FROM returns
    CROSS JOIN return_lines AS line ON line.return_id = returns.id
    WHERE returns.sales_order_id = :order_id AND returns.status <> 'ANULAT' AND returns.id IS NOT :but_not
    GROUP BY line.article_id
"""


def shipped(tx: Transaction, order_id: int) -> dict[int, int]:
    """Return the shipped quantity of each article of the order, in millionths, by the id of the article. Call this
    only for an order that has been loaded.
    """
    return dict(tx.rows(SHIPPED, (order_id,)))


def returned(tx: Transaction, order_id: int, but_not: int | None) -> dict[int, int]:
    """Return the quantity of each article in all returns of the order, in millionths, by the id of the article.
    Cancelled returns and the return `but_not` are not counted.
    """
    return dict(tx.rows(RETURNED, {"order_id": order_id, "but_not": but_not}))


SHIPPED_PARTS: Final = """
    SELECT stock.article_id, moved.lot_number, moved.serial, -sum(moved.quantity)
    FROM stock_movements AS moved CROSS JOIN stock ON stock.id = moved.stock_id
    WHERE moved.document_id = ? AND moved.kind IN ('loading', 'unloading')
    GROUP BY stock.article_id, moved.lot_number, moved.serial HAVING sum(moved.quantity) < 0
"""
RETURNED_PARTS: Final = """
    SELECT line.article_id, line.lot_number, line.quantity, line.serials FROM returns
    CROSS JOIN return_lines AS line ON line.return_id = returns.id
    WHERE returns.sales_order_id = :order_id AND returns.status <> 'ANULAT' AND returns.id IS NOT :but_not
        AND (line.lot_number IS NOT NULL OR line.serials IS NOT NULL)
"""


@dataclass(slots=True)
class Parts:
    """Lots and serials. `lots` has the quantity in millionths by (article id, lot). `serials` has the lot of each
    serial by (article id, serial).
    """

    lots: Counter[tuple[int, str]] = field(default_factory=Counter)
    serials: dict[tuple[int, str], str | None] = field(default_factory=dict)


def shipped_parts(tx: Transaction, order_id: int) -> Parts:
    """Return the lots and serials that the order has shipped. Goods that were unloaded again are not included."""
    parts = Parts()
    for article_id, lot, serial, quantity in tx.rows(SHIPPED_PARTS, (order_id,)):
        if lot is not None:
            parts.lots[article_id, lot] += quantity
        if serial is not None:
            parts.serials[article_id, serial] = lot
    return parts


def returned_parts(tx: Transaction, order_id: int, but_not: int | None) -> Parts:
    """Return the lots and serials in the returns of the order. Cancelled returns and the return `but_not` are not
    counted.
    """
    parts = Parts()
    for article_id, lot, quantity, serials in tx.rows(RETURNED_PARTS, {"order_id": order_id, "but_not": but_not}):
        if lot is not None:
            parts.lots[article_id, lot] += quantity
        parts.serials |= {(article_id, serial): lot for serial in json.loads(serials or "[]")}
    return parts
