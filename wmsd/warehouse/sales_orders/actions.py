"""The operations on sales orders."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

from wmsd.base.problems import Problem
from wmsd.contract.field_errors import FieldError, refuse_field_errors
from wmsd.contract.operation import operation
from wmsd.contract.results import Record, Records
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.dependents import Dependents
from wmsd.warehouse.documents.document_events import emit_updated, move_and_emit
from wmsd.warehouse.documents.document_packaging import check_goes_with, record_packaging
from wmsd.warehouse.documents.document_references import check_document, sent_status
from wmsd.warehouse.documents.document_reservations import find_stock
from wmsd.warehouse.documents.operations import reading_operations
from wmsd.warehouse.documents.transitions import Step
from wmsd.warehouse.packaging.packaging_ledger import Document, reverse_document
from wmsd.warehouse.packaging.schema import PackagingLine
from wmsd.warehouse.sales_orders.create import create_orders
from wmsd.warehouse.sales_orders.effects import EFFECTS, loaded_goods
from wmsd.warehouse.sales_orders.rules import LOADED, TRANSITIONS, Effect, Status
from wmsd.warehouse.sales_orders.sales_order_references import find_lines, sent_errors
from wmsd.warehouse.sales_orders.schema import (
    LoadedGoods,
    SalesOrder,
    SalesOrderChanges,
    SalesOrderFields,
    SalesOrderLineFields,
    SalesOrderStatusMove,
)
from wmsd.warehouse.sales_orders.store import ORDER_LINES, ORDERS
from wmsd.warehouse.stock.stock_reservations import Holder, set_reservation

Columns = dict[str, Any]

READING: Final = reading_operations(ORDERS, tag="Sales orders", module="outbound", ability="sales-orders:read")
writing = partial(
    operation,
    tag="Sales orders",
    returns=SalesOrder,
    module="outbound",
    ability="sales-orders:write",
    answer="record",
    writes=True,
    references=sent_errors,
)
REFUSALS: Final = (
    "INSUFFICIENT_STOCK",
    "INVALID_PARTNER",
    "INVALID_WAREHOUSE",
    "INVALID_ARTICLE",
    "EXTERNAL_REF_TAKEN",
)
CHANGED: Final = (
    "sales_order.updated",
    "sales_order.status_changed",
    "packaging.movement_recorded",
    "stock.updated",
    "stock.low",
)
UNLOADED: Final[tuple[Status, ...]] = ("IN_LUCRU",)
KEPT_BY_RETURNS: Final = ("partner_id", "client_id")
"""Fields that cannot change if the order has a return that is not cancelled."""


@operation(tag="Sales orders", answer="records", returns=LoadedGoods, module="stock", ability="stock:read")
def list_loaded_goods(tx: Transaction, id: int) -> Records:
    """List the goods loaded for a sales order.

    There is one entry for each order line, lot and serial.
    """
    ORDERS.one(tx, id)
    return loaded_goods(tx, id)


@writing(creates=True, events=("sales_order.created", "stock.updated", "stock.low"), codes=REFUSALS)
def create_sales_order(tx: Transaction, body: SalesOrderFields) -> Record:
    """Create a sales order.

    Stock is reserved for all lines. If the stock is not enough, the whole order is refused, with an error on each
    line that is short. For lines of the same article and warehouse, the sum counts.
    """
    (made,) = create_orders(tx, [body])
    if isinstance(made, Problem):
        raise made
    return made


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=ORDERS.one)
def replace_sales_order(tx: Transaction, id: int, body: SalesOrderFields) -> Record:
    """Replace a sales order.

    A field that is not sent takes its default, but code and status stay as they are. Lines and `ship_to` can
    change only in status CREAT. Other fields can change until the status is LIVRAT or ANULAT. `tracking_number`
    can still change in LIVRAT. If you send `status`, the status changes. If nothing differs, nothing is written
    and no event is sent.
    """
    return apply_order_change(tx, id, ORDERS.replacement(body), body.lines, sent_status(body), body.packaging)


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=ORDERS.one)
def update_sales_order(tx: Transaction, id: int, body: SalesOrderChanges) -> Record:
    """Change some fields of a sales order, or its status.

    `lines` replaces all lines. If nothing differs, nothing is written and no event is sent.
    """
    return apply_order_change(tx, id, ORDERS.patch(body), body.lines, sent_status(body), body.packaging)


@writing(events=CHANGED[1:], codes=("INVALID_STATUS",), precondition=ORDERS.one)
def change_sales_order_status(tx: Transaction, id: int, body: SalesOrderStatusMove) -> Record:
    """Move a sales order to another status.

    If the order already has this status, nothing changes and the answer is 200. So you can safely repeat a
    request. `packaging` goes out to the partner with the move to INCARCAT. It comes back when the order is
    unloaded.
    """
    return apply_order_change(tx, id, {}, None, body.status, body.packaging)


def apply_order_change(
    tx: Transaction,
    order_id: int,
    given: Mapping[str, Any],
    sent_lines: list[SalesOrderLineFields] | None = None,
    status: Status | None = None,
    packaging: Sequence[PackagingLine] | None = None,
) -> Record:
    """Change the fields, lines and status of a sales order, and return its record.

    If fields and lines can change in the current status, they change before the status. Otherwise the status
    changes first.
    """
    check_goes_with(packaging, status, LOADED)
    current = ORDERS.columns(tx, order_id)
    values = ORDERS.merged(current, given)
    before = ORDER_LINES.of(tx, order_id) if sent_lines is not None else []
    lines = find_lines(tx, sent_lines or [], values["warehouse_id"], before, current["warehouse_id"])
    lines_differ = ORDER_LINES.contents(lines.rows) != ORDER_LINES.contents(before)
    differing = ORDERS.differing(current, values, lines_differ)
    _check_unbound(tx, order_id, current["status"], differing)
    for step in TRANSITIONS.steps(current["status"], status or current["status"], differing):
        match step:
            case Step.MOVE:
                move(tx, [order_id], current["status"], status or current["status"])
                if packaging:
                    partner_id = ORDERS.columns(tx, order_id)["partner_id"]
                    record_packaging(tx, Document(ORDERS.entity, order_id), packaging, partner_id, "OUT")
            case Step.CHANGE:
                errors = [*check_document(tx, ORDERS, order_id, values, current), *lines.errors]
                _change(tx, order_id, values, lines.rows if lines_differ else None, errors)
    return ORDERS.one(tx, order_id)


def _check_unbound(tx: Transaction, order_id: int, status: Status, differing: Collection[str]) -> None:
    """Raise Problem (409) if a field in `KEPT_BY_RETURNS` would change and a return refers to the order."""
    bound = [name for name in KEPT_BY_RETURNS if name in differing]
    if bound and (code := tx.service(Dependents).find(tx, ORDERS.name, [order_id])) is not None:
        names = " and ".join(bound)
        sentence = f"Return {code} refers to this sales order, so {names} of the order cannot be changed."
        raise TRANSITIONS.forbidden(sentence, status, refused=UNLOADED, fields=bound)


def _change(
    tx: Transaction, order_id: int, values: Columns, rows: list[Columns] | None, errors: list[FieldError]
) -> None:
    """Write the changed order, its lines and its reservations. `rows` are the new lines, or None if the lines do
    not change.

    `errors` are the errors that the caller has found. Raise Problem (422) if there are any, or if the stock is not
    enough for the new lines.
    """
    before = ORDERS.one(tx, order_id)
    if rows is None:
        refuse_field_errors(errors)
    else:
        wanted = find_stock(tx, ORDERS, order_id, rows, errors, values["warehouse_id"])
        refuse_field_errors(errors)
        ORDER_LINES.replace(tx, order_id, rows)
        set_reservation(tx, Holder(ORDERS.entity, order_id), wanted)
    ORDERS.update(tx, order_id, values)
    emit_updated(tx, ORDERS, before)


def move(tx: Transaction, order_ids: Sequence[int], current: Status, requested: Status) -> None:
    """Change the status of orders that all have the status `current`, with all effects on stock.

    Raise Problem (409) if this change of status is not allowed.
    """
    effect = TRANSITIONS.effect(current, requested)
    EFFECTS[effect](tx, order_ids)
    move_and_emit(tx, ORDERS, order_ids, current, requested)
    for order_id in order_ids if effect is Effect.UNLOAD else ():
        reverse_document(tx, Document(ORDERS.entity, order_id))
