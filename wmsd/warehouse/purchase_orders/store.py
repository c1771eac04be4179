"""The SQL of purchase orders."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from wmsd.contract.list_queries import QueryId
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory.store import PARTNERS, WAREHOUSES
from wmsd.warehouse.documents.document_lines import LineTable
from wmsd.warehouse.documents.table import DocumentTable, Due
from wmsd.warehouse.purchase_orders.schema import PurchaseOrder, PurchaseOrderFields, PurchaseOrderItem

ORDER_ITEMS: Final = LineTable(
    "purchase_order_items", "purchase_order_id", ("article_id", "quantity"), PurchaseOrderItem
)
ORDERS: Final = DocumentTable(
    noun="purchase order",
    series="PO",
    body=PurchaseOrderFields,
    shown=PurchaseOrder,
    lines="items",
    line_table=ORDER_ITEMS,
    references={"partner": PARTNERS, "warehouse": WAREHOUSES},
    filters={"partner_id": QueryId},
    payload=("partner_id", "warehouse_id"),
    due=Due("expected_date", ("CREAT", "PARTIAL")),
    by_article=True,
)

RECEIVABLE: Final = """
    SELECT item.id, item.article_id, articles.code, item.quantity, item.received_quantity, articles.um3pl_factor,
        articles.over_receipt_pct, articles.track_lot, articles.track_serial
    FROM purchase_order_items AS item CROSS JOIN articles ON articles.id = item.article_id
    WHERE item.purchase_order_id = ?
"""


class ReceivableItem(NamedTuple):
    """An item of an order, with the fields that receptions use. Some of these fields come from the item's article.
    Quantities are in millionths.
    """

    id: int
    article_id: int
    article_code: str
    ordered: int
    received: int
    um3pl_factor: int
    over_receipt_pct: int | None
    tracks_lots: int
    tracks_serials: int


def receivable(tx: Transaction, order_id: int) -> dict[int, ReceivableItem]:
    """Return the items of an order, by id."""
    return {row[0]: ReceivableItem(*row) for row in tx.rows(RECEIVABLE, (order_id,))}


RECEIVED: Final = "SELECT quantity, received_quantity FROM purchase_order_items WHERE purchase_order_id = ?"


def received(tx: Transaction, order_id: int) -> list[tuple[int, int]]:
    """Return the ordered and the received quantity of each item, in millionths."""
    return tx.rows(RECEIVED, (order_id,))


RECEIVE: Final = "UPDATE purchase_order_items SET received_quantity = received_quantity + ? WHERE id = ?"


def receive(tx: Transaction, quantities: Mapping[int, int]) -> None:
    """Increase the received quantities of items. `quantities` has the quantity to add in millionths, by the id of
    the item.
    """
    tx.executemany(RECEIVE, [(quantity, item_id) for item_id, quantity in quantities.items()])


SET_OVER_RECEIPT: Final = """
    INSERT INTO inbound_rules (name, value) VALUES ('over_receipt_pct', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


OVER_RECEIPT_BUILT_IN: Final = 0
"""The tolerance for over-receipts if the company has not set one, in millionths of a percent."""


def own_over_receipt_pct(tx: Transaction) -> int | None:
    """Return the tolerance for over-receipts that the company has set, in millionths of a percent. Return None if
    it has not set one.
    """
    return tx.find_number("SELECT value FROM inbound_rules WHERE name = 'over_receipt_pct'")


def over_receipt_pct(tx: Transaction) -> int:
    """Return the company's tolerance for over-receipts, in millionths of a percent.

    This tolerance applies to articles that have no tolerance of their own.
    """
    own = own_over_receipt_pct(tx)
    return OVER_RECEIPT_BUILT_IN if own is None else own


def set_over_receipt_pct(tx: Transaction, pct: int | None) -> None:
    tx.execute(SET_OVER_RECEIPT, (pct,))
