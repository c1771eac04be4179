"""The SQL of purchase orders."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wmsd.base.strict_json import dumps
from wmsd.db.listing import Listing, Tally
from wmsd.db.record import record_sql
from wmsd.db.transaction import Transaction
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
    ),
)

ITEMS_OF_ONE: Final = """
    SELECT id, article_id, quantity, received_quantity FROM purchase_order_items
    WHERE purchase_order_id = ? ORDER BY position
"""


def items(tx: Transaction, order_id: int) -> list[dict[str, Any]]:
    """The stored items in their order."""
    return tx.records(ITEMS_OF_ONE, (order_id,))


WRITE_ITEM: Final = """
    INSERT INTO purchase_order_items (id, purchase_order_id, position, article_id, quantity)
    VALUES (:id, :order_id, :position, :article_id, :quantity)
    ON CONFLICT (id) DO UPDATE SET position = excluded.position, article_id = excluded.article_id,
        quantity = excluded.quantity
"""
TAKE_AWAY: Final = """
    DELETE FROM purchase_order_items
    WHERE purchase_order_id = ? AND id NOT IN (SELECT value FROM json_each(?))
"""


def write_items(tx: Transaction, order_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """These items and no others: each with its own id, or a new one where that is None."""
    tx.execute(TAKE_AWAY, (order_id, dumps([row["id"] for row in rows if row["id"] is not None])))
    tx.executemany(
        WRITE_ITEM, [{**row, "order_id": order_id, "position": position} for position, row in enumerate(rows)]
    )


def delete(tx: Transaction, order_id: int) -> None:
    write_items(tx, order_id, [])
    ORDERS.delete(tx, order_id)
