"""The plan of a transport: what it may contain, and how it may change before and after loading."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wmsd.base.problems import Problem, by_path
from wmsd.contract.context import TransportSite
from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.transports import store
from wmsd.warehouse.transports.rules import MAY_BE_PLANNED, ON_THE_TRUCK, Requested, Status, moves_from
from wmsd.warehouse.transports.schema import TransportFields
from wmsd.warehouse.transports.store import Order, Planned
from wmsd.warehouse.transports.transport_packaging import (
    content_of,
    find_partners,
    find_types,
    post_packaging,
)

TWICE: Final = "is given twice"


def is_same(current: Planned, body: TransportFields) -> bool:
    """Return True if the sent plan equals the stored plan. The order in which the sales orders are listed does not
    matter.
    """
    return (
        (current.vehicle, current.driver) == (body.vehicle, body.driver)
        and sorted(order.code for order in current.orders) == sorted(body.order_codes)
        and content_of(current.packaging) == content_of(body.packaging)
    )


def write_plan(tx: Transaction, site: TransportSite, body: TransportFields, current: Planned | None) -> None:
    """Write a new plan, or replace a plan that is not loaded yet. Raise Problem (422) with every error."""
    field_errors: list[FieldError] = []
    orders = _find_orders(tx, site, body.order_codes, None if current is None else current.id, field_errors)
    types = find_types(tx, [entry.packaging_type_code for entry in body.packaging], "packaging", field_errors)
    find_partners([entry.order_code for entry in body.packaging], orders, "packaging", field_errors)
    if body.packaging and not body.order_codes:
        field_errors.append(
            invalid_field(
                "packaging",
                "must be empty if the transport has no orders: add orders, or leave the packaging out",
            )
        )
    refuse_field_errors(field_errors)
    if current is None:
        transport_id = store.insert(tx, site.warehouse_id, body.transport_ecc, body.vehicle, body.driver)
    else:
        transport_id = current.id
        store.replan(tx, transport_id, body.vehicle, body.driver)
        store.clear_packaging(tx, transport_id)
    store.place(tx, transport_id, [orders[code].id for code in body.order_codes])
    for entry in body.packaging:
        store.pack(
            tx,
            transport_id,
            "OUT",
            packaging_type_id=types[entry.packaging_type_code],
            quantity=entry.quantity,
            sales_order_id=None if entry.order_code is None else orders[entry.order_code].id,
            partner_id=None,
        )


def sent_references(tx: Transaction, sent: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors in the orders and packaging types of a plan that also has malformed fields.

    `sent` is the plan. Each malformed value in it is replaced by null.
    """
    site: TransportSite = named["site"]
    ecc = sent.get("transport_ecc")
    current = None if ecc is None else store.find(tx, site.warehouse_id, ecc)
    errors: list[FieldError] = []
    codes = [code or "" for code in sent.get("order_codes") or ()]
    _find_orders(tx, site, codes, None if current is None else current.id, errors)
    types = [(entry or {}).get("packaging_type_code") or "" for entry in sent.get("packaging") or ()]
    find_types(tx, types, "packaging", errors)
    yield from errors


def _find_orders(
    tx: Transaction,
    site: TransportSite,
    codes: Sequence[str],
    transport_id: int | None,
    field_errors: list[FieldError],
) -> dict[str, Order]:
    """Return the site's orders with these codes, by code. If an order cannot be on this transport, add an error
    for its code to `field_errors`. `transport_id` is None for a new transport.
    """
    named = store.orders_named(tx, codes, transport_id)
    here = {code: found for code, found in named.items() if found[0].warehouse_id == site.warehouse_id}
    before: set[str] = set()
    for number, code in enumerate(codes):
        sentence = TWICE if code in before else _cannot_be_planned(site, here.get(code))
        if sentence is not None:
            field_errors.append(invalid_field(f"order_codes.{number}", sentence))
        before.add(code)
    return {code: order for code, (order, _) in here.items()}


def _cannot_be_planned(site: TransportSite, found: tuple[Order, str | None] | None) -> str | None:
    """Return the reason why the order cannot be planned, or None if it can be planned.

    The reason for an order of another site is the same as for an unknown code. So a site cannot find out which
    codes other sites use.
    """
    if found is None:
        return "is not an order of this site"
    order, elsewhere = found
    if order.status not in MAY_BE_PLANNED:
        return f"is {order.status}: an order with this status cannot be put on a transport"
    if elsewhere is None:
        return None
    other, warehouse_id = json.loads(elsewhere)
    which = f"the transport {other}" if warehouse_id == site.warehouse_id else "a transport of another site"
    return f"is on {which}, which is not delivered yet"


def leave_out(tx: Transaction, site: TransportSite, body: TransportFields, current: Planned) -> None:
    """Remove orders from the plan of a loaded transport. Users must have unloaded these orders by hand. If the
    plan changes anything else, raise Problem (409) with all reasons.

    The packaging of the removed orders comes back. If no order remains, all packaging comes back, and the
    transport gets the status CREAT again.
    """
    kept = set(body.order_codes)
    left = [order for order in current.orders if order.code not in kept]
    left_codes = {order.code for order in left}
    back = [each for each in current.packaging if not kept or each.order_code in left_codes]
    stays = [each for each in current.packaging if each not in back]
    errors = by_path(_forbidden(body, current, left, content_of(stays)))
    if errors:
        message = (
            f"The transport {body.transport_ecc} is {current.status}. The only possible change is to remove "
            "orders that you have unloaded."
        )
        raise Problem("INVALID_STATUS", message, errors=errors, details=conflict_details(current.status, None))
    movements = [
        (each.packaging_type_id, each.partner_id, each.quantity) for each in back if each.partner_id is not None
    ]
    post_packaging(tx, current.id, movements, "IN", tx.timestamp)
    store.unpack(tx, [each.id for each in back])
    store.leave_out(tx, current.id, [order.id for order in left])
    if not kept:
        store.plan_again(tx, current.id)
    store.touch(tx, current.id)


def _forbidden(
    body: TransportFields, current: Planned, left: Sequence[Order], stays: Sequence[tuple[str, int, str]]
) -> Iterator[tuple[str, str]]:
    for name in ("vehicle", "driver"):
        if getattr(body, name) != getattr(current, name):
            yield name, "cannot be changed after loading"
    known = {order.code for order in current.orders}
    for number, code in enumerate(body.order_codes):
        if code not in known:
            yield f"order_codes.{number}", "was not loaded with this transport"
        elif code in body.order_codes[:number]:
            yield f"order_codes.{number}", TWICE
    for order in left:
        if order.status in ON_THE_TRUCK:
            because = f"because the status of this order is {order.status}"
            yield "order_codes", f"must also contain {order.code}, {because}"
    if content_of(body.packaging) != stays:
        yield "packaging", "must be exactly the packaging that was loaded with the remaining orders"


def conflict_details(status: Status, requested: Requested | None) -> dict[str, object]:
    """Return the details of a 409 answer, for programs: `current` is the status of the transport, `requested` is
    the requested status, and `allowed` has the other statuses to which a call can change it.

    `requested` is None if the call does not change the status.
    """
    allowed = [each for each in moves_from(status) if each != requested]
    return {"current": status, "requested": requested, "allowed": allowed}
