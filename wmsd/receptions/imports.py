"""Receptions in bulk, by the rules of single ones. A row is what arrived of an item of the purchase order.

The item is named by its article; where the order has that in several items, by its number in the order too.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from wmsd.base.fields import Code, OptionalLabel, OptionalText, Quantity, Serials
from wmsd.base.importing import Outcome, Row
from wmsd.base.listing import QueryId
from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.store import WAREHOUSES
from wmsd.documents.imports import Checked, Codes, DocumentFile, DocumentRow
from wmsd.purchase_orders import store as orders
from wmsd.purchase_orders.store import ORDERS
from wmsd.receptions.actions import change, create
from wmsd.receptions.rules import MOVES, Status
from wmsd.receptions.schema import MAX_ITEMS, ItemFields, ReceptionFields
from wmsd.receptions.store import RECEPTIONS

NO_ITEM: Final = 0
"""No item has this id: the reception is refused as one that names what the order does not have."""


class ReceptionRow(DocumentRow):
    status: Status | None = None
    purchase_order_code: Code
    warehouse_code: Code
    transport_ecc: OptionalLabel = None
    notes: OptionalText = None
    article_code: Code
    item: QueryId | None = None
    quantity_um3pl: Quantity
    lot_number: OptionalLabel = None
    serial_data: Serials | None = None


OF_AN_ITEM: Final = ("article_code", "item", "quantity_um3pl", "lot_number", "serial_data")
FILE: Final = DocumentFile(
    RECEPTIONS,
    MOVES,
    ReceptionRow,
    of_a_line=OF_AN_ITEM,
    required=("purchase_order_code", "warehouse_code", "article_code", "quantity_um3pl"),
    references={"purchase_order_code": ORDERS, "warehouse_code": WAREHOUSES},
    lines="selected_items",
    most_lines=MAX_ITEMS,
    columns={
        "purchase_order_id": "purchase_order_code",
        "warehouse_id": "warehouse_code",
        "selected_items.po_item_id": "article_code",
    },
    walked_last=True,
)
Rows = list[Checked[ReceptionRow]]


def import_receptions(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    """A status is walked to by the moves that lead there: FINALIZAT posts the goods, and that may close the
    order for the others, so all are there before. A cancelled one may be of an order that is cancelled, too.
    """

    def create_one(reception: Rows, codes: Codes) -> Record:
        fields = {**_fields(reception[0], codes), "code": reception[0].fields.code}
        items = _items(tx, fields["purchase_order_id"], reception)
        body = ReceptionFields.model_construct(**fields, selected_items=items)
        return create(tx, body, of_closed_too=reception[0].fields.status == "ANULAT")

    def change_one(reception_id: int, reception: Rows, codes: Codes) -> Record:
        fields = _fields(reception[0], codes)
        return change(tx, reception_id, fields, _items(tx, fields["purchase_order_id"], reception))

    FILE.take(
        tx,
        rows,
        outcome,
        create_one,
        change_one,
        lambda reception_id, status: change(tx, reception_id, {}, None, status),
    )


def _fields(first: Checked[ReceptionRow], codes: Codes) -> dict[str, Any]:
    """The reception's fields that the file has; columns that are not there stay as they are."""
    row = first.fields
    fields: dict[str, Any] = {
        "purchase_order_id": codes.find("purchase_order_code", row.purchase_order_code),
        "warehouse_id": codes.find("warehouse_code", row.warehouse_code),
    }
    for name in ("external_ref", "transport_ecc", "notes"):
        if name in first.sent:
            fields[name] = getattr(row, name)
    return fields


def _items(tx: Transaction, order_id: int, rows: Rows) -> list[ItemFields]:
    numbered = list(enumerate(orders.receivable(tx, order_id).values(), start=1))
    items = []
    for each in rows:
        row = each.fields
        named = [
            item.id
            for number, item in numbered
            if item.article_code == row.article_code and row.item in (None, number)
        ]
        items.append(
            ItemFields.model_construct(
                po_item_id=named[0] if len(named) == 1 else NO_ITEM,
                quantity_um3pl=row.quantity_um3pl,
                lot_number=row.lot_number,
                serial_data=row.serial_data,
            )
        )
    return items


def exported(tx: Transaction) -> Iterator[dict[str, Any]]:
    """A row for each item of each reception."""
    warehouses = directory.codes_by_id(tx, WAREHOUSES)
    for text in RECEPTIONS.every(tx):
        reception = json.loads(text, parse_float=str, parse_int=str)
        order_id = int(reception["purchase_order_id"])
        order = ORDERS.columns(tx, order_id)
        numbers = {str(item_id): number for number, item_id in enumerate(orders.receivable(tx, order_id), start=1)}
        for item in reception["selected_items"]:
            of_item = {name: item.get(name) for name in OF_AN_ITEM}
            yield {
                **reception,
                **of_item,
                "item": numbers[item["po_item_id"]],
                "purchase_order_code": order["code"],
                "warehouse_code": warehouses[int(reception["warehouse_id"])],
            }
