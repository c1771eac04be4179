"""The operations on purchase orders."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from wmsd.contract.field_errors import FieldError, refuse_field_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.change_history import delete_document
from wmsd.warehouse.documents.dependents import Dependents
from wmsd.warehouse.documents.document_events import create_and_emit, move_and_emit, update_and_emit
from wmsd.warehouse.documents.document_references import (
    Articles,
    check_document,
    not_initial,
    references_of,
    sent_status,
)
from wmsd.warehouse.documents.operations import reading_operations
from wmsd.warehouse.documents.transitions import Step
from wmsd.warehouse.purchase_orders.rules import BY_HAND, INITIAL, Status
from wmsd.warehouse.purchase_orders.schema import (
    PurchaseOrder,
    PurchaseOrderChanges,
    PurchaseOrderFields,
    PurchaseOrderItemFields,
)
from wmsd.warehouse.purchase_orders.store import ORDER_ITEMS, ORDERS

Columns = dict[str, Any]

READING: Final = reading_operations(
    ORDERS, tag="Purchase orders", module="inbound", ability="purchase-orders:read"
)
writing = partial(
    operation,
    tag="Purchase orders",
    returns=PurchaseOrder,
    module="inbound",
    ability="purchase-orders:write",
    answer="record",
    writes=True,
    references=references_of(ORDERS),
)
REFUSALS: Final = ("INVALID_PARTNER", "INVALID_WAREHOUSE", "INVALID_ARTICLE", "EXTERNAL_REF_TAKEN")
CHANGED: Final = ("purchase_order.updated", "purchase_order.status_changed")


@writing(creates=True, events=("purchase_order.created",), codes=REFUSALS)
def create_purchase_order(tx: Transaction, body: PurchaseOrderFields) -> Record:
    """Create a purchase order."""
    values = ORDERS.replacement(body)
    rows, errors = _find_items(tx, body.items)
    refuse_field_errors(
        [*not_initial(ORDERS, body.status), *check_document(tx, ORDERS, None, values, {}), *errors]
    )
    return create_and_emit(tx, ORDERS, values, rows)


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=ORDERS.one)
def replace_purchase_order(tx: Transaction, id: int, body: PurchaseOrderFields) -> Record:
    """Replace a purchase order.

    A field that is not sent takes its default, but code and status stay as they are. Items can change only in
    status CREAT. Other fields can change until the status is RECEPTIONAT or ANULAT. If nothing differs, nothing is
    written and no event is sent.
    """
    return change(tx, id, ORDERS.replacement(body), body.items, sent_status(body))


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=ORDERS.one)
def update_purchase_order(tx: Transaction, id: int, body: PurchaseOrderChanges) -> Record:
    """Change some fields of a purchase order, or its status.

    You can cancel an order (CREAT to ANULAT). You can also close an order whose goods are not all received
    (PARTIAL to RECEPTIONAT). Receptions cause all other changes of status. `items` replaces all items. If nothing
    differs, nothing is written and no event is sent.
    """
    return change(tx, id, ORDERS.patch(body), body.items, sent_status(body))


@operation(
    tag="Purchase orders",
    answer="nothing",
    module="inbound",
    ability="purchase-orders:write",
    writes=True,
    codes=("INVALID_STATUS",),
    precondition=ORDERS.one,
)
def delete_purchase_order(tx: Transaction, id: int) -> None:
    """Delete a purchase order.

    The order must be in status CREAT, and no reception may refer to the order. No event is sent.
    """
    current = ORDERS.columns(tx, id)
    status = current["status"]
    if status != INITIAL:
        raise BY_HAND.forbidden(f"This purchase order is {status} and cannot be deleted.", status)
    if (reception := tx.service(Dependents).find(tx, ORDERS.name, [id])) is not None:
        raise BY_HAND.forbidden(
            (
                f"This purchase order cannot be deleted, because reception {reception} "
                "refers to it. Cancel the order instead."
            ),
            status,
        )
    delete_document(tx, ORDERS, id)


def change(
    tx: Transaction,
    order_id: int,
    given: Mapping[str, Any],
    sent_items: list[PurchaseOrderItemFields] | None = None,
    status: Status | None = None,
) -> Record:
    """Change the fields, items and status of an order, and return the order.

    If the current status allows a change of fields and items, they are changed before the status. Otherwise the
    status is changed first.
    """
    current = ORDERS.columns(tx, order_id)
    values = ORDERS.merged(current, given)
    before = ORDER_ITEMS.of(tx, order_id) if sent_items is not None else []
    rows, errors = _find_items(tx, sent_items or [], before)
    items_differ = ORDER_ITEMS.contents(rows) != ORDER_ITEMS.contents(before)
    differing = ORDERS.differing(current, values, items_differ)
    for step in BY_HAND.steps(current["status"], status or current["status"], differing):
        match step:
            case Step.MOVE:
                move(tx, order_id, current["status"], status or current["status"])
            case Step.CHANGE:
                refuse_field_errors([*check_document(tx, ORDERS, order_id, values, current), *errors])
                if items_differ:
                    _check_unnamed(tx, current["status"], before, rows)
                update_and_emit(tx, ORDERS, order_id, values, rows if items_differ else None)
    return ORDERS.one(tx, order_id)


def _check_unnamed(tx: Transaction, status: Status, before: Sequence[Columns], rows: Sequence[Columns]) -> None:
    """Raise Problem (409) if the new items `rows` would break a reception. Receptions refer to items of the order.
    `rows` must not leave out such an item, and must not change its article.
    """
    kept = {(row["id"], row["article_id"]) for row in rows}
    gone = {row["id"] for row in before if (row["id"], row["article_id"]) not in kept}
    if gone and (reception := tx.service(Dependents).find(tx, ORDER_ITEMS.name, gone)) is not None:
        sentence = (
            f"Your request removes or changes an item that reception {reception} uses. Send this item with its "
            "id and its present article."
        )
        raise BY_HAND.forbidden(sentence, status, fields=(ORDERS.lines,))


def move(tx: Transaction, order_id: int, current: Status, requested: Status) -> None:
    """Change the status of the order from `current` to `requested`.

    The caller must check that the change is allowed: users may cause only the changes in `BY_HAND`, and receptions
    only the changes in `BY_RECEPTIONS`.
    """
    move_and_emit(tx, ORDERS, [order_id], current, requested)


def _find_items(
    tx: Transaction, sent: Sequence[PurchaseOrderItemFields], before: Sequence[Columns] = ()
) -> tuple[list[Columns], list[FieldError]]:
    """Return the items as rows of the table, and their errors. In a row, the `article_id` of an unknown article is
    None.
    """
    articles = Articles(tx, sent, before)
    rows: list[Columns] = []
    errors: list[FieldError] = []
    for number, (item, kept) in enumerate(zip(sent, ORDER_ITEMS.kept(sent, before), strict=True)):
        article = articles.find(item, f"items.{number}", errors)
        rows.append(ORDER_ITEMS.row(item, kept, article_id=article and article.id))
    return rows, errors
