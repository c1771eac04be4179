"""Loading and delivery of a transport. Either all its orders get the new status, or none. The packaging of the
transport is posted too.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from wmsd.base import timestamps
from wmsd.base.problems import FieldErrors, Problem, refuse_errors
from wmsd.contract.context import TransportSite
from wmsd.contract.field_errors import FieldError, refuse_field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.sales_orders.actions import apply_order_change
from wmsd.warehouse.transports import store
from wmsd.warehouse.transports.planning import conflict_details
from wmsd.warehouse.transports.rules import (
    CLOCKS_DIFFER,
    LOADS,
    ORDER_MOVES,
    OVER,
    TRANSITIONS,
    Effect,
    why_not,
)
from wmsd.warehouse.transports.schema import TransportStatusMove
from wmsd.warehouse.transports.store import Planned
from wmsd.warehouse.transports.transport_packaging import (
    content_of,
    find_partners,
    find_types,
    post_packaging,
)

NOTHING: Final = "Nothing was changed."


def apply_transport_move(
    tx: Transaction, site: TransportSite, current: Planned, body: TransportStatusMove
) -> None:
    """Load or deliver the transport. If the call is a repetition, change nothing. Raise Problem (409) with each
    order that forbids the call, or Problem (422) with the errors of the request.
    """
    moment = _occurred_at(tx.now, body)
    effect = TRANSITIONS[(current.status, body.status)]
    if effect is Effect.NONE:
        _check_repetition(tx, current, body)
        return
    _refuse_forbidding(site, current, body, effect)
    _move_orders(tx, current, effect)
    if effect in LOADS:
        _send_out(tx, current, moment)
        store.load(tx, current.id, moment)
    if effect is not Effect.LOAD:
        _take_in(tx, current, body, moment)
        store.deliver(tx, current.id, moment)


def _occurred_at(now: datetime, body: TransportStatusMove) -> str:
    errors: FieldErrors = {}
    moment = now if body.occurred_at is None else timestamps.from_text(body.occurred_at)
    if moment - now > CLOCKS_DIFFER:
        errors["occurred_at"] = ["is in the future"]
    if body.packaging_returned and body.status != OVER:
        errors["packaging_returned"] = [f"is allowed only together with the status {OVER}"]
    refuse_errors(errors)
    return timestamps.to_text(moment)


def _check_repetition(tx: Transaction, current: Planned, body: TransportStatusMove) -> None:
    """Raise Problem (409) if a repeated call names other returned packaging than the call that recorded the
    delivery.
    """
    sent = content_of(body.packaging_returned or [])
    if sent and sent != content_of(store.packed(tx, current.id, "IN")):
        raise Problem(
            "INVALID_STATUS",
            "The transport was already delivered with different returned packaging. Record the difference as "
            "packaging movements.",
            errors={
                "packaging_returned": [
                    "must be the same as the returned packaging that was recorded at the delivery"
                ]
            },
            details=conflict_details(current.status, body.status),
        )


def _refuse_forbidding(site: TransportSite, current: Planned, body: TransportStatusMove, effect: Effect) -> None:
    errors: FieldErrors = {f"orders.{number}": [why] for number, why in _forbidding(site, current, effect)}
    if current.orders and not errors:
        return
    preventing = "One order prevents" if len(errors) == 1 else f"{len(errors)} orders prevent"
    message = f"{preventing} this change of status. {NOTHING}"
    if not current.orders:
        message = f"The transport has no orders. {NOTHING}"
    orders = [{"code": order.code, "status": order.status} for order in current.orders]
    shown = {**conflict_details(current.status, body.status), "orders": orders}
    raise Problem("INVALID_STATUS", message, errors=errors, details=shown)


def _forbidding(site: TransportSite, current: Planned, effect: Effect) -> Iterator[tuple[int, str]]:
    """Yield each order that forbids loading or delivering the transport: its index and the reason."""
    for number, order in enumerate(current.orders):
        if order.status not in ORDER_MOVES[effect]:
            yield number, why_not(effect, order.code, order.status)
        elif effect in LOADS and order.warehouse_id != site.warehouse_id:
            yield number, f"{order.code} now belongs to another warehouse: leave it out of the transport"


def _move_orders(tx: Transaction, current: Planned, effect: Effect) -> None:
    """Change the status of the orders. If some orders cannot change, raise Problem with the errors of all of them.

    All changes are in one transaction. So the Problem also undoes the changes of the orders that could change.
    """
    problems: dict[int, Problem] = {}
    for number, order in enumerate(current.orders):
        try:
            for status in ORDER_MOVES[effect][order.status]:
                apply_order_change(tx, order.id, {}, status=status)
        except Problem as problem:
            problems[number] = problem
    if problems:
        errors = {
            f"orders.{number}": [
                f"{current.orders[number].code}: {sentence}"
                for sentence in (problem.message, *(each for some in problem.errors.values() for each in some))
            ]
            for number, problem in problems.items()
        }
        code = next(iter(problems.values())).code
        raise Problem(
            code, f"The status cannot be changed for {len(problems)} of the orders. {NOTHING}", errors=errors
        )


def _send_out(tx: Transaction, current: Planned, moment: str) -> None:
    field_errors: list[FieldError] = []
    partners = find_partners(
        [each.order_code for each in current.packaging], _by_code(current), "packaging", field_errors
    )
    refuse_field_errors(field_errors)
    posted = [
        (each, partner_id) for each, partner_id in zip(current.packaging, partners, strict=True) if partner_id
    ]
    movements = [(each.packaging_type_id, partner_id, each.quantity) for each, partner_id in posted]
    post_packaging(tx, current.id, movements, "OUT", moment)
    store.note_posted(tx, [(partner_id, each.id) for each, partner_id in posted])


def _take_in(tx: Transaction, current: Planned, body: TransportStatusMove, moment: str) -> None:
    field_errors: list[FieldError] = []
    entries, orders = body.packaging_returned or [], _by_code(current)
    types = find_types(tx, [entry.packaging_type_code for entry in entries], "packaging_returned", field_errors)
    partners = find_partners([entry.order_code for entry in entries], orders, "packaging_returned", field_errors)
    refuse_field_errors(field_errors)
    found = [(entry, partner_id) for entry, partner_id in zip(entries, partners, strict=True) if partner_id]
    movements = [(types[entry.packaging_type_code], partner_id, entry.quantity) for entry, partner_id in found]
    post_packaging(tx, current.id, movements, "IN", moment)
    for entry, partner_id in found:
        store.pack(
            tx,
            current.id,
            "IN",
            packaging_type_id=types[entry.packaging_type_code],
            quantity=entry.quantity,
            sales_order_id=None if entry.order_code is None else orders[entry.order_code].id,
            partner_id=partner_id,
        )


def _by_code(current: Planned) -> dict[str, store.Order]:
    return {order.code: order for order in current.orders}
