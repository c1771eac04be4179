"""The declaration of purchase orders as a kind of document."""

from typing import Final

from wmsd.warehouse.documents.kind import DocumentKind, InFiles, Writing, one_at_a_time, one_by_one
from wmsd.warehouse.purchase_orders import actions
from wmsd.warehouse.purchase_orders.rules import BY_HAND
from wmsd.warehouse.purchase_orders.schema import PurchaseOrderItemFields
from wmsd.warehouse.purchase_orders.store import ORDERS

PURCHASE_ORDERS: Final = DocumentKind(
    table=ORDERS,
    transitions=BY_HAND,
    listed=("code", "status", "partner", "items", "external_ref", "expected_date", "updated_at"),
    reading=actions.READING,
    writing=Writing(
        actions.create_purchase_order,
        actions.replace_purchase_order,
        actions.update_purchase_order,
        (actions.delete_purchase_order,),
    ),
    change=actions.change,
    in_files=InFiles(
        line=PurchaseOrderItemFields,
        create=one_by_one(lambda tx, _, body: actions.create_purchase_order.action(tx, body)),
        move=one_at_a_time(actions.move),
        comes_about=frozenset({"PARTIAL", "RECEPTIONAT"}),
    ),
)
"""The declaration of purchase orders.

A user can cancel an order, or close it although goods are missing. Only receptions can cause the other changes of
status. Therefore a person must import purchase orders first, and their receptions afterwards.
"""
