"""The SQL of receptions."""

from collections.abc import Mapping
from typing import Final

from wmsd.contract.list_queries import QueryId
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.directory.store import WAREHOUSES
from wmsd.warehouse.documents.dependents import Dependent
from wmsd.warehouse.documents.document_lines import LineTable
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.purchase_orders.store import ORDER_ITEMS, ORDERS
from wmsd.warehouse.receptions.schema import (
    Reception,
    ReceptionFields,
    ReceptionItem,
    ReceptionPartial,
    RemainingItem,
)

RECEPTION_ITEMS: Final = LineTable(
    "reception_items",
    "reception_id",
    ("po_item_id", "quantity_um3pl", "lot_number", "serial_data"),
    ReceptionItem,
    joined="""
        CROSS JOIN purchase_order_items AS ordered ON ordered.id = line.po_item_id
        CROSS JOIN articles ON articles.id = ordered.article_id
    """,
    columns={"article_id": "ordered.article_id"},
)
RECEPTIONS: Final = DocumentTable(
    noun="reception",
    series="RC",
    body=ReceptionFields,
    shown=Reception,
    lines="selected_items",
    line_table=RECEPTION_ITEMS,
    references={"purchase_order": ORDERS, "warehouse": WAREHOUSES},
    filters={"purchase_order_id": QueryId},
    payload=("purchase_order_id", "warehouse_id"),
)

OF_ORDERS: Final = """
    SELECT code FROM receptions
    WHERE purchase_order_id IN (SELECT value FROM json_each(:ids)) ORDER BY id LIMIT 1
"""
OF_ITEMS: Final = """
    SELECT receptions.code FROM reception_items JOIN receptions ON receptions.id = reception_items.reception_id
    WHERE po_item_id IN (SELECT value FROM json_each(:ids)) ORDER BY receptions.id LIMIT 1
"""
DEPENDENTS: Final = (Dependent(ORDERS.name, OF_ORDERS), Dependent(ORDER_ITEMS.name, OF_ITEMS))


SUPPLIER: Final = """
    SELECT partner_id FROM receptions JOIN purchase_orders ON purchase_orders.id = purchase_order_id
    WHERE receptions.id = ?
"""


def supplier_of(tx: Transaction, reception_id: int) -> int:
    """Return the id of the supplier: the partner of the reception's purchase order."""
    return tx.number(SUPPLIER, (reception_id,))


POSTED: Final = "UPDATE reception_items SET quantity = ? WHERE id = ?"


def keep_posted(tx: Transaction, quantities: Mapping[int, int]) -> None:
    """Write the posted quantity of each item, in millionths of the article's unit."""
    tx.executemany(POSTED, [(quantity, item_id) for item_id, quantity in quantities.items()])


REMAINING: Final = record_sql(
    RemainingItem,
    {
        "po_item_id": "id",
        "ordered": "quantity",
        "received": "received_quantity",
        "remaining": "(quantity - received_quantity)",
    },
)
PARTIAL: Final = record_sql(
    ReceptionPartial,
    {
        "remaining": f"""(
            SELECT json_group_array({REMAINING} ORDER BY position) FROM purchase_order_items
            WHERE purchase_order_id = receptions.purchase_order_id AND received_quantity < quantity
        )"""
    },
)
PARTIAL_OF_ONE: Final = f"SELECT {PARTIAL} FROM receptions WHERE id = ?"


def partial_data(tx: Transaction, reception_id: int) -> str:
    return tx.text(PARTIAL_OF_ONE, (reception_id,))
