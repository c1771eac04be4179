"""Purchase orders in bulk, by the rules of single ones."""

from collections.abc import Iterable
from typing import Any, Final

from wmsd.base.fields import Code, Date, OptionalText, Quantity
from wmsd.base.importing import Outcome, Row
from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.directory.store import PARTNERS, WAREHOUSES
from wmsd.documents.imports import Checked, Codes, DocumentFile, DocumentRow
from wmsd.purchase_orders.actions import change, create_purchase_order
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
    comes_about=frozenset({"PARTIAL", "RECEPTIONAT"}),
)
Rows = list[Checked[OrderRow]]


def import_purchase_orders(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """By hand an order can be cancelled or closed short; what else a status tells of, receptions do: import them
    next.
    """

    def create(order: Rows, codes: Codes) -> Record:
        fields = {**_fields(order[0], codes), "code": order[0].fields.code}
        record: Record = create_purchase_order.action(
            tx, PurchaseOrderFields.model_construct(**fields, items=_items(order))
        )
        return record

    FILE.take(
        tx,
        rows,
        outcome,
        create,
        lambda order_id, order, codes: change(tx, order_id, _fields(order[0], codes), _items(order)),
        lambda order_id, status: change(tx, order_id, {}, None, status),
    )


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


def _items(rows: Rows) -> list[ItemFields]:
    return [
        ItemFields.model_construct(**{name: getattr(each.fields, name) for name in OF_AN_ITEM}) for each in rows
    ]
