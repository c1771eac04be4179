"""The declaration of receptions as a kind of document.

A row of a file gives the arrived quantity of one purchase order item. The column `article_code` identifies the
item by its article. If several items have this article, the column `item` gives the position of the item in the
order.
"""

from typing import Any, Final

from wmsd.contract.fields import Code, Input, OptionalLabel, Quantity, Serials
from wmsd.contract.list_queries import QueryId
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.kind import (
    Document,
    DocumentKind,
    InFiles,
    Posting,
    Row,
    Writing,
    one_at_a_time,
    one_by_one,
)
from wmsd.warehouse.purchase_orders import store as orders
from wmsd.warehouse.receptions import actions
from wmsd.warehouse.receptions.checks import CHECKS
from wmsd.warehouse.receptions.reception_posting import KIND
from wmsd.warehouse.receptions.rules import FINAL, TRANSITIONS
from wmsd.warehouse.receptions.schema import ReceptionFields, ReceptionItemFields
from wmsd.warehouse.receptions.store import RECEPTIONS as TABLE

NO_ITEM: Final = 0
"""An id that no item has. A row gets this id if it does not identify exactly one item of the order. A row with
this id is refused.
"""


class ItemInFile(Input):
    article_code: Code
    item: QueryId | None = None
    quantity_um3pl: Quantity
    lot_number: OptionalLabel = None
    serial_data: Serials | None = None


def _create(tx: Transaction, reception: Document, body: ReceptionFields) -> Record:
    """Create the reception. If its final status is "cancelled", accept a closed order too."""
    return actions.create(tx, body, of_closed_too=reception.status == "ANULAT")


def _items(tx: Transaction, reception: Document) -> list[Any]:
    order_id = reception.fields["purchase_order_id"]
    numbered = list(enumerate(orders.receivable(tx, order_id).values(), start=1))
    items = []
    for row in reception.lines or ():
        named = [
            item.id
            for number, item in numbered
            if item.article_code == row.article_code and row.item in (None, number)
        ]
        items.append(
            ReceptionItemFields.model_construct(
                po_item_id=named[0] if len(named) == 1 else NO_ITEM,
                quantity_um3pl=row.quantity_um3pl,
                lot_number=row.lot_number,
                serial_data=row.serial_data,
            )
        )
    return items


def _numbered(tx: Transaction, reception: Row, items: list[Row]) -> list[Row]:
    order_id = int(reception["purchase_order_id"])
    numbers = {str(item_id): number for number, item_id in enumerate(orders.receivable(tx, order_id), start=1)}
    return [{**item, "item": numbers[item["po_item_id"]]} for item in items]


RECEPTIONS: Final = DocumentKind(
    table=TABLE,
    transitions=TRANSITIONS,
    listed=("code", "status", "purchase_order", "warehouse", "selected_items", "external_ref", "updated_at"),
    reading=actions.READING,
    writing=Writing(
        actions.create_reception,
        actions.replace_reception,
        actions.update_reception,
        (actions.delete_reception,),
    ),
    change=actions.change,
    in_files=InFiles(
        line=ItemInFile,
        columns={"po_item_id": ("article_code", "item")},
        create=one_by_one(_create),
        lines_of=_items,
        lines_shown=_numbered,
        move=one_at_a_time(actions.move),
        walked_last=True,
    ),
    posting=Posting((KIND,), frozenset({FINAL})),
    checks=CHECKS,
)
"""The declaration of receptions.

Posting one reception (FINALIZAT) may close its order for the next receptions in the file. Therefore the import
first creates all receptions, and then posts them.
"""
