"""Purchase orders in bulk, by the rules of single ones."""

from typing import Any, Final

from wmsd.base.fields import Code, Date, OptionalText, Quantity
from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.directory.store import PARTNERS, WAREHOUSES
from wmsd.documents.codes import Codes
from wmsd.documents.imports import Checked, Document, DocumentFile, DocumentRow, one_at_a_time, one_by_one
from wmsd.purchase_orders.actions import change, create_purchase_order, move
from wmsd.purchase_orders.rules import BY_HAND, Status
from wmsd.purchase_orders.schema import MAX_ITEMS, ItemFields, PurchaseOrderFields
from wmsd.purchase_orders.store import ORDERS


class OrderRow(DocumentRow):
    status: Status | None = None
    partner_code: Code
    warehouse_code: Code
    expected_date: Date | None = None
    notes: OptionalText = None
    article_code: Code
    quantity: Quantity


OF_AN_ITEM: Final = ("article_code", "quantity")


def _create(tx: Transaction, order: Document) -> Record:
    body = PurchaseOrderFields.model_construct(**order.fields, code=order.code, items=order.lines)
    record: Record = create_purchase_order.action(tx, body)
    return record


def _change(tx: Transaction, order_id: int, order: Document) -> None:
    change(tx, order_id, order.fields, order.lines)


def _fields(first: Checked[OrderRow], codes: Codes) -> dict[str, Any]:
    """The order's fields that the file has; columns that are not there stay as they are."""
    row = first.fields
    fields: dict[str, Any] = {
        "partner_id": codes.find("partner_code", row.partner_code),
        "warehouse_id": codes.find("warehouse_code", row.warehouse_code),
    }
    for name in ("external_ref", "expected_date", "notes"):
        if name in first.sent:
            fields[name] = getattr(row, name)
    return fields


def _item(row: Checked[OrderRow], codes: Codes) -> ItemFields:
    return ItemFields.model_construct(**{name: getattr(row.fields, name) for name in OF_AN_ITEM})


FILE: Final = DocumentFile(
    ORDERS,
    BY_HAND,
    OrderRow,
    of_a_line=OF_AN_ITEM,
    required=("partner_code", "warehouse_code", "article_code", "quantity"),
    references={"partner_code": PARTNERS, "warehouse_code": WAREHOUSES},
    lines="items",
    most_lines=MAX_ITEMS,
    columns={
        "partner_id": "partner_code",
        "warehouse_id": "warehouse_code",
        "items.article_id": "article_code",
    },
    fields_of=_fields,
    line_of=_item,
    create=one_by_one(_create),
    change=_change,
    move=one_at_a_time(move),
    comes_about=frozenset({"PARTIAL", "RECEPTIONAT"}),
)
"""By hand an order can be cancelled or closed short; what else a status tells of, receptions do: import them next.
"""
