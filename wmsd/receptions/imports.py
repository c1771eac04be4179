"""Receptions in bulk, by the rules of single ones. A row is what arrived of an item of the purchase order.

The item is named by its article; where the order has that in several items, by its number in the order too.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from wmsd.base.fields import Code, OptionalLabel, OptionalText, Quantity, Serials
from wmsd.base.listing import QueryId
from wmsd.base.results import Record
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.store import WAREHOUSES
from wmsd.documents.codes import Codes
from wmsd.documents.imports import Checked, Document, DocumentFile, DocumentRow, one_at_a_time, one_by_one
from wmsd.purchase_orders import store as orders
from wmsd.purchase_orders.store import ORDERS
from wmsd.receptions.actions import change, create, move
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


def _create(tx: Transaction, reception: Document) -> Record:
    """A cancelled one may be of an order that is cancelled, too."""
    fields = {**reception.fields, "code": reception.code}
    items = _items(tx, fields["purchase_order_id"], reception.lines)
    body = ReceptionFields.model_construct(**fields, selected_items=items)
    return create(tx, body, of_closed_too=reception.status == "ANULAT")


def _change(tx: Transaction, reception_id: int, reception: Document) -> None:
    items = _items(tx, reception.fields["purchase_order_id"], reception.lines)
    change(tx, reception_id, reception.fields, items)


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


def _row(row: Checked[ReceptionRow], codes: Codes) -> ReceptionRow:
    return row.fields


def _items(tx: Transaction, order_id: int, rows: Sequence[ReceptionRow]) -> list[ItemFields]:
    numbered = list(enumerate(orders.receivable(tx, order_id).values(), start=1))
    items = []
    for row in rows:
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
    fields_of=_fields,
    line_of=_row,
    create=one_by_one(_create),
    change=_change,
    move=one_at_a_time(move),
    walked_last=True,
)
"""A status is walked to by the moves that lead there: FINALIZAT posts the goods, and that may close the order for
the others, so all are there before.
"""
