"""The SQL of purchase orders."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.listing import FEW_AT_ONCE, Listing, Tally
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
from wmsd.documents.lines import LineTable
from wmsd.documents.table import FILTERS, DocumentTable
from wmsd.purchase_orders.rules import INITIAL, STATUSES
from wmsd.purchase_orders.schema import PurchaseOrder, PurchaseOrderItem, PurchaseOrderStatusChanged

ITEM: Final = record_sql(
    PurchaseOrderItem, {"id": "item.id", "article_code": "articles.code", "quantity": "item.quantity"}
)
ITEMS: Final = f"""(
    SELECT json_group_array({ITEM} ORDER BY item.position)
    FROM purchase_order_items AS item CROSS JOIN articles ON articles.id = item.article_id
    WHERE item.purchase_order_id = purchase_orders.id
)"""
ORDERS: Final = DocumentTable(
    noun="purchase order",
    name="purchase_orders",
    series="PO",
    initial=INITIAL,
    fields=("code", "partner_id", "warehouse_id", "external_ref", "expected_date", "notes"),
    record=record_sql(PurchaseOrder, {"items": ITEMS}),
    told=PurchaseOrderStatusChanged,
    listing=Listing(
        source="purchase_orders",
        order="id",
        filters={**FILTERS, "partner_id": "partner_id = :partner_id"},
        count="purchase_orders",
        tally=Tally("purchase_order_counts", STATUSES),
        at_once=FEW_AT_ONCE,
    ),
)

ORDER_ITEMS: Final = LineTable("purchase_order_items", "purchase_order_id", ("article_id", "quantity"))

RECEIVABLE: Final = """
    SELECT item.id, item.article_id, articles.code, item.quantity, item.received_quantity, articles.um3pl_factor,
        articles.over_receipt_pct, articles.track_lot, articles.track_serial
    FROM purchase_order_items AS item CROSS JOIN articles ON articles.id = item.article_id
    WHERE item.purchase_order_id = ?
"""


class ReceivableItem(NamedTuple):
    """An item with what a reception asks of it and of its article; quantities in millionths."""

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
    """By id."""
    return {row[0]: ReceivableItem(*row) for row in tx.rows(RECEIVABLE, (order_id,))}


RECEIVED: Final = "SELECT quantity, received_quantity FROM purchase_order_items WHERE purchase_order_id = ?"


def received(tx: Transaction, order_id: int) -> list[tuple[int, int]]:
    """Of each item what was ordered and what came, in millionths."""
    return tx.rows(RECEIVED, (order_id,))


RECEIVE: Final = "UPDATE purchase_order_items SET received_quantity = received_quantity + ? WHERE id = ?"


def receive(tx: Transaction, quantities: Mapping[int, int]) -> None:
    """Adds to what has been received, by item."""
    tx.executemany(RECEIVE, [(quantity, item_id) for item_id, quantity in quantities.items()])


OVER_RECEIPT: Final = "SELECT value FROM inbound_rules WHERE name = 'over_receipt_pct'"
SET_OVER_RECEIPT: Final = """
    INSERT INTO inbound_rules (name, value) VALUES ('over_receipt_pct', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


def over_receipt_pct(tx: Transaction) -> int:
    """The company's tolerance where the article has none of its own, in millionths of a percent."""
    return tx.value(OVER_RECEIPT) or 0


def set_over_receipt_pct(tx: Transaction, pct: int) -> None:
    tx.execute(SET_OVER_RECEIPT, (pct,))


RECEPTIONS: Final = "SELECT code FROM receptions WHERE purchase_order_id = ? ORDER BY id LIMIT 1"
NAMED_ITEMS: Final = """
    SELECT receptions.code FROM reception_items JOIN receptions ON receptions.id = reception_items.reception_id
    WHERE po_item_id IN (SELECT value FROM json_each(?)) ORDER BY receptions.id LIMIT 1
"""


def reception_of(tx: Transaction, order_id: int) -> str | None:
    """The code of a reception of the order: it depends on it."""
    code: str | None = tx.value(RECEPTIONS, (order_id,))
    return code


def reception_of_items(tx: Transaction, item_ids: Iterable[int]) -> str | None:
    """The code of a reception that names one of the items."""
    code: str | None = tx.value(NAMED_ITEMS, (dumps(sorted(item_ids)),))
    return code


def delete(tx: Transaction, order_id: int) -> None:
    ORDER_ITEMS.write(tx, order_id, [])
    ORDERS.delete(tx, order_id)
