"""The operations on receptions."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from wmsd.contract.field_errors import refuse_field_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.change_history import delete_document
from wmsd.warehouse.documents.document_events import create_and_emit, move_and_emit, update_and_emit
from wmsd.warehouse.documents.document_packaging import check_goes_with, goes_with, record_packaging
from wmsd.warehouse.documents.document_references import check_document, sent_status
from wmsd.warehouse.documents.operations import reading_operations
from wmsd.warehouse.documents.transitions import Step
from wmsd.warehouse.packaging.packaging_ledger import Document
from wmsd.warehouse.packaging.packaging_lines import type_errors
from wmsd.warehouse.packaging.schema import PackagingLine
from wmsd.warehouse.receptions import store
from wmsd.warehouse.receptions.reception_posting import post_reception, update_order
from wmsd.warehouse.receptions.reception_references import (
    Row,
    check_order_is_open,
    find_arrivals,
    not_at_once,
    other_order,
    rows_of,
    sent_references,
)
from wmsd.warehouse.receptions.rules import CANCELLED, FINAL, INITIAL, TRANSITIONS, Effect, Status
from wmsd.warehouse.receptions.schema import (
    Reception,
    ReceptionChanges,
    ReceptionFields,
    ReceptionItemFields,
)
from wmsd.warehouse.receptions.store import RECEPTION_ITEMS, RECEPTIONS

READING: Final = reading_operations(RECEPTIONS, tag="Receptions", module="inbound", ability="receptions:read")
writing = partial(
    operation,
    tag="Receptions",
    returns=Reception,
    module="inbound",
    ability="receptions:write",
    answer="record",
    writes=True,
    references=sent_references,
)
POSTED: Final = (
    "reception.status_changed",
    "packaging.movement_recorded",
    "reception.partial",
    "purchase_order.status_changed",
    "stock.updated",
)


@writing(
    creates=True,
    events=("reception.created", *POSTED),
    codes=("INVALID_STATUS", "INVALID_WAREHOUSE", "EXTERNAL_REF_TAKEN"),
)
def create_reception(tx: Transaction, body: ReceptionFields) -> Record:
    """Create a reception of a purchase order.

    If `status` is FINALIZAT, the goods are posted immediately. If not, the reception is a draft. For each item of
    the order, all receptions together must not exceed the ordered quantity plus the tolerance (over_receipt_pct).
    With the status FINALIZAT, `packaging` is recorded as received from the supplier.
    """
    return create(tx, body)


def create(tx: Transaction, body: ReceptionFields, of_closed_too: bool = False) -> Record:
    """Create a reception. If `of_closed_too` is True, also accept a purchase order that is already closed."""
    values = RECEPTIONS.replacement(body)
    rows = rows_of(body.selected_items)
    errors = [
        *not_at_once(body.status),
        *goes_with(body.packaging, body.status, FINAL),
        *type_errors(tx, body.packaging or ()),
        *check_document(tx, RECEPTIONS, None, values, {}),
    ]
    find_arrivals(tx, body.purchase_order_id, rows, errors, of_closed_too)
    refuse_field_errors(errors)
    record = create_and_emit(tx, RECEPTIONS, values, rows)
    if body.status == INITIAL:
        return record
    move(tx, record.id, INITIAL, body.status, body.packaging)
    return RECEPTIONS.one(tx, record.id)


@writing(
    events=("reception.updated", *POSTED),
    codes=("INVALID_STATUS", "INVALID_WAREHOUSE", "EXTERNAL_REF_TAKEN"),
    precondition=RECEPTIONS.one,
)
def replace_reception(tx: Transaction, id: int, body: ReceptionFields) -> Record:
    """Replace a reception.

    A field that is not sent takes its default, but code and status stay as they are. A reception can change until
    its status is FINALIZAT or ANULAT. If you send `status`, the status changes. If nothing differs, nothing is
    written and no event is sent.
    """
    return change(tx, id, RECEPTIONS.replacement(body), body.selected_items, sent_status(body), body.packaging)


@writing(
    events=("reception.updated", *POSTED),
    codes=("INVALID_STATUS", "INVALID_WAREHOUSE", "EXTERNAL_REF_TAKEN"),
    precondition=RECEPTIONS.one,
)
def update_reception(tx: Transaction, id: int, body: ReceptionChanges) -> Record:
    """Change some fields of a reception, or its status.

    With FINALIZAT, the goods are posted to stock in one transaction. This cannot be undone: use adjustments to
    correct later errors. `selected_items` replaces all items. If nothing differs, nothing is written and no event
    is sent.
    """
    return change(tx, id, RECEPTIONS.patch(body), body.selected_items, sent_status(body), body.packaging)


@operation(
    tag="Receptions",
    answer="nothing",
    module="inbound",
    ability="receptions:write",
    writes=True,
    codes=("INVALID_STATUS",),
    precondition=RECEPTIONS.one,
)
def delete_reception(tx: Transaction, id: int) -> None:
    """Delete a reception.

    The reception must be in status CREAT. No event is sent.
    """
    status = RECEPTIONS.columns(tx, id)["status"]
    if status != INITIAL:
        raise TRANSITIONS.forbidden(f"This reception is {status} and cannot be deleted.", status)
    delete_document(tx, RECEPTIONS, id)


def change(
    tx: Transaction,
    reception_id: int,
    given: Mapping[str, Any],
    sent_items: list[ReceptionItemFields] | None = None,
    status: Status | None = None,
    packaging: Sequence[PackagingLine] | None = None,
) -> Record:
    """Change the fields, items and status of a reception, and return the reception.

    If the current status allows changes of fields and items, these changes come before the change of status. If
    not, they come after it.
    """
    check_goes_with(packaging, status, FINAL)
    current = RECEPTIONS.columns(tx, reception_id)
    values = RECEPTIONS.merged(current, given)
    rows = before = RECEPTION_ITEMS.of(tx, reception_id)
    sent = before if sent_items is None else rows_of(sent_items, before)
    if RECEPTION_ITEMS.contents(sent) != RECEPTION_ITEMS.contents(before):
        rows = sent
    items_differ = rows is not before
    differing = RECEPTIONS.differing(current, values, items_differ)
    for step in TRANSITIONS.steps(current["status"], status or current["status"], differing):
        match step:
            case Step.MOVE:
                move(tx, reception_id, current["status"], status or current["status"], packaging)
            case Step.CHANGE:
                # even if the order accepts no more receptions, a reception can be cancelled
                is_cancelled = status == CANCELLED
                if not is_cancelled:
                    check_order_is_open(tx, current, None if status == current["status"] else status)
                _change(tx, reception_id, current, values, rows, is_cancelled)
    return RECEPTIONS.one(tx, reception_id)


def _change(
    tx: Transaction,
    reception_id: int,
    current: Mapping[str, Any],
    values: Mapping[str, Any],
    rows: list[Row],
    of_closed_too: bool,
) -> None:
    errors = [*check_document(tx, RECEPTIONS, reception_id, values, current), *other_order(current, values)]
    find_arrivals(tx, current["purchase_order_id"], rows, errors, of_closed_too)
    refuse_field_errors(errors)
    update_and_emit(tx, RECEPTIONS, reception_id, values, rows)


def move(
    tx: Transaction,
    reception_id: int,
    current: Status,
    requested: Status,
    packaging: Sequence[PackagingLine] | None = None,
) -> None:
    """Change the status of the reception, with all effects on stock, order and packaging. Raise Problem (409) if
    the change of status is not allowed.
    """
    effect = TRANSITIONS.effect(current, requested)
    if effect is Effect.POST:
        post_reception(tx, reception_id)
    move_and_emit(tx, RECEPTIONS, [reception_id], current, requested)
    if effect is Effect.POST:
        update_order(tx, reception_id)
    if packaging:
        document = Document(RECEPTIONS.entity, reception_id)
        record_packaging(tx, document, packaging, store.supplier_of(tx, reception_id), "IN")
