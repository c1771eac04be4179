"""The packaging of a transport: finds its types and partners, and posts it to the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from wmsd.contract.field_errors import FieldError, invalid_field, refuse_field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.packaging import store as packaging
from wmsd.warehouse.packaging.packaging_ledger import Document, Movement, check_balances, record_movement
from wmsd.warehouse.packaging.schema import Direction
from wmsd.warehouse.transports.schema import PackagingEntry
from wmsd.warehouse.transports.store import Order, Packed

ENTITY: Final = "transport"


def find_types(tx: Transaction, codes: Sequence[str], path: str, errors: list[FieldError]) -> dict[str, int]:
    """Return the ids of the packaging types with these codes, by code. Add an error to `errors` for each unknown
    code.
    """
    ids = {code: type_id for type_id, code in packaging.types_named(tx, (), set(codes)).items()}
    errors += [
        invalid_field(f"{path}.{number}.packaging_type_code", "is not a packaging type of this company")
        for number, code in enumerate(codes)
        if code not in ids
    ]
    return ids


def find_partners(
    order_codes: Sequence[str | None], orders: Mapping[str, Order], path: str, errors: list[FieldError]
) -> list[int | None]:
    """Return the id of the partner of each packaging entry, or None if the entry has an error.

    `order_codes` has the order code of each entry, or None for an entry without an order. `orders` are the orders
    of the transport, by code. An entry with an order gets the partner of the order. For an entry without an order,
    all orders must have the same partner. Add an error to `errors` if the orders have several partners, or if an
    entry's order is not on this transport.

    If the transport has no orders, an entry without an order gets None, but no error.
    """
    partners = {order.partner_id for order in orders.values()}
    found: list[int | None] = []
    for number, code in enumerate(order_codes):
        partner_id = None
        if code is not None and code in orders:
            partner_id = orders[code].partner_id
        elif code is not None:
            errors.append(invalid_field(f"{path}.{number}.order_code", "is not an order of this transport"))
        elif len(partners) == 1:
            (partner_id,) = partners
        elif partners:
            sentence = "is required: the orders of this transport belong to several partners"
            errors.append(invalid_field(f"{path}.{number}.order_code", sentence))
        found.append(partner_id)
    return found


def post_packaging(
    tx: Transaction,
    transport_id: int,
    movements: Sequence[tuple[int, int, int]],
    direction: Direction,
    moment: str,
) -> None:
    """Record all movements. Each item of `movements` is (packaging type, partner, quantity in millionths).

    Raise Problem (422) if a balance exceeds its limits.
    """
    path = "packaging" if direction == "OUT" else "packaging_returned"
    made = [
        Movement(type_id, partner_id, direction, quantity, occurred_at=moment)
        for type_id, partner_id, quantity in movements
    ]
    refuse_field_errors(
        check_balances(tx, [(f"{path}.{number}.quantity", each) for number, each in enumerate(made)])
    )
    for movement in made:
        record_movement(tx, movement, Document(ENTITY, transport_id))


def content_of(entries: Iterable[PackagingEntry | Packed]) -> list[tuple[str, int, str]]:
    """Return the types, quantities and orders of packaging entries in a fixed order. Therefore two lists with the
    same entries give the same result.
    """
    return sorted((entry.packaging_type_code, entry.quantity, entry.order_code or "") for entry in entries)
