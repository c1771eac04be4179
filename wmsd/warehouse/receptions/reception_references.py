"""Finds the order items and articles to which the items of a reception refer, and the errors in the items."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from wmsd.base.quantity import MAXIMUM, SCALE, from_decimal, to_text
from wmsd.contract.field_errors import FieldError, invalid_field
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.document_packaging import goes_with
from wmsd.warehouse.documents.document_references import references_of
from wmsd.warehouse.purchase_orders import store as orders
from wmsd.warehouse.purchase_orders.rules import BY_HAND, may_be_received
from wmsd.warehouse.purchase_orders.store import ORDERS, ReceivableItem
from wmsd.warehouse.receptions.rules import (
    AT_ONCE,
    FINAL,
    TRANSITIONS,
    Status,
    base_quantity,
    most_receivable,
)
from wmsd.warehouse.receptions.schema import ReceptionItemFields
from wmsd.warehouse.receptions.store import RECEPTION_ITEMS, RECEPTIONS
from wmsd.warehouse.stock import lots

Row = dict[str, Any]
"""An item as it is stored: id, po_item_id, quantity_um3pl, lot_number, serial_data (JSON)."""


class Arrival(NamedTuple):
    """An item of a reception. `ordered` is the item of the purchase order to which it belongs. `quantity` is in
    millionths of the article's unit, or 0 if the sent quantity is not valid. `item_id` is None for a new item.
    """

    item_id: int | None
    ordered: ReceivableItem
    quantity: int
    lot_number: str | None
    serials: list[str]


def rows_of(sent: Sequence[ReceptionItemFields], before: Sequence[Row] = ()) -> list[Row]:
    """Return the sent items in stored form. `before` are the stored items of the reception. A sent item with the
    id of a stored item keeps this id.
    """
    kept = RECEPTION_ITEMS.kept(sent, before)
    return [RECEPTION_ITEMS.row(*each) for each in zip(sent, kept, strict=True)]


def find_arrivals(
    tx: Transaction, order_id: int, rows: Sequence[Row], errors: list[FieldError], of_closed_too: bool = False
) -> list[Arrival]:
    """Return the items `rows` as arrivals, with their order items and articles. Append to
    `errors` every error that prevents posting the reception.

    If `of_closed_too` is True, the order may be closed. If not, a closed order is an error.
    """
    order = ORDERS.find_columns(tx, order_id)
    if order is None:
        return []
    items = orders.receivable(tx, order_id)
    received = ((item.ordered, item.received) for item in items.values())
    if not of_closed_too and not may_be_received(order["status"], lambda: received):
        sentence = f"is {order['status']}: no more goods can be received for {order['code']}"
        errors.append(BY_HAND.forbidding("purchase_order_id", sentence, order["status"]))
    arrivals: list[tuple[int, Arrival]] = []
    for number, row in enumerate(rows):
        path = f"selected_items.{number}"
        if row["po_item_id"] is None:
            continue  # the error for a malformed id is already reported
        item = items.get(row["po_item_id"])
        if item is None:
            errors.append(invalid_field(f"{path}.po_item_id", f"is not an item of purchase order {order['code']}"))
            continue
        quantity = base_quantity(row["quantity_um3pl"], item.um3pl_factor)
        if quantity is None or quantity > MAXIMUM:
            errors.append(invalid_field(f"{path}.quantity_um3pl", _unfit(item, quantity)))
            quantity = 0
        serials: list[str] = json.loads(row["serial_data"]) if row["serial_data"] else []
        arrivals.append((number, Arrival(row["id"], item, quantity, row["lot_number"], serials)))
    errors += _lot_errors(arrivals)
    errors += _serial_errors(tx, arrivals)
    errors += _over_receipts(arrivals, orders.over_receipt_pct(tx))
    return [arrival for _, arrival in arrivals]


def not_at_once(status: str) -> list[FieldError]:
    """Return an error if a new reception cannot have this status."""
    if status in AT_ONCE:
        return []
    return [invalid_field("status", "must be CREAT, or FINALIZAT to post the reception immediately")]


REFERENCES: Final = references_of(RECEPTIONS, not_at_once)


def sent_references(tx: Transaction, sent: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors in the references, items and packaging of a body that has malformed fields elsewhere.

    `sent` is the body, with null in place of each malformed value. If the reception or its order is closed, the
    items are not compared with the order.
    """
    yield from REFERENCES(tx, sent, named)
    yield from goes_with(sent.get("packaging"), sent.get("status"), FINAL)
    current = None if "id" not in named else RECEPTIONS.find_columns(tx, named["id"])
    order_id = sent.get("purchase_order_id")
    if current is not None:
        yield from () if order_id is None else other_order(current, sent)
        order_id = current["purchase_order_id"]
        status = ORDERS.columns(tx, order_id)["status"]
        is_open = may_be_received(status, partial(orders.received, tx, order_id))
        if current["status"] not in TRANSITIONS.lines_change_in or not is_open:
            return
    if order_id is not None:
        errors: list[FieldError] = []
        find_arrivals(tx, order_id, [_sent_row(item) for item in sent.get(RECEPTIONS.lines) or ()], errors)
        yield from errors


def _sent_row(item: Mapping[str, Any] | None) -> Row:
    """Return a sent item in stored form. Malformed values are replaced: a quantity by 0, a serial by an empty
    text, and any other value by None.
    """
    given = item or {}
    quantity, serials = given.get("quantity_um3pl"), given.get("serial_data") or ()
    return {
        "id": None,
        "po_item_id": given.get("po_item_id"),
        "quantity_um3pl": 0 if quantity is None else from_decimal(quantity),
        "lot_number": given.get("lot_number") or None,
        "serial_data": json.dumps([serial if isinstance(serial, str) else "" for serial in serials]),
    }


def other_order(current: Mapping[str, Any], values: Mapping[str, Any]) -> list[FieldError]:
    """Return an error if `values` names a different purchase order from that of the reception. A reception cannot
    change its order.
    """
    if values["purchase_order_id"] == current["purchase_order_id"]:
        return []
    return [invalid_field("purchase_order_id", "cannot be changed: create a new reception for the other order")]


def check_order_is_open(tx: Transaction, reception: Mapping[str, Any], requested: Status | None = None) -> None:
    """Raise Problem (409) if the reception's order accepts no more receptions.

    `requested` is the new status of the reception, or None if the request does not change the status.
    """
    order_id = reception["purchase_order_id"]
    order = ORDERS.columns(tx, order_id)
    if not may_be_received(order["status"], lambda: orders.received(tx, order_id)):
        sentence = f"Purchase order {order['code']} is {order['status']}: no more goods can be received."
        raise TRANSITIONS.forbidden(sentence, reception["status"], requested, refused=(FINAL,))


def _unfit(item: ReceivableItem, quantity: int | None) -> str:
    result = f"the quantity times {to_text(item.um3pl_factor)} (the um3pl_factor of {item.article_code})"
    if quantity is None:
        return f"is not possible: {result} has more than 6 decimal places"
    return f"is too large: {result} must be at most {to_text(MAXIMUM)}"


def _lot_errors(arrivals: Sequence[tuple[int, Arrival]]) -> Iterator[FieldError]:
    for number, arrival in arrivals:
        if arrival.ordered.tracks_lots and arrival.lot_number is None:
            path = f"selected_items.{number}.lot_number"
            yield invalid_field(path, "is required: the article is tracked by lots")


def _serial_errors(tx: Transaction, arrivals: Sequence[tuple[int, Arrival]]) -> Iterator[FieldError]:
    """Yield an error if an item does not have one serial for each unit. Also yield an error for each serial that
    is given twice or is already in stock.
    """
    seen: set[tuple[int, str]] = set()
    for number, arrival in arrivals:
        path, item = f"selected_items.{number}.serial_data", arrival.ordered
        if not item.tracks_serials:
            if arrival.serials:
                yield invalid_field(path, "must be empty: the article is not tracked by serials")
            continue
        if arrival.quantity and len(arrival.serials) * SCALE != arrival.quantity:
            given, wanted = len(arrival.serials), to_text(arrival.quantity)
            yield invalid_field(
                path, f"must have one serial for each unit (units arrived: {wanted}, serials given: {given})"
            )
        there = lots.serials(tx, item.article_id, arrival.serials)
        for place, serial in enumerate(arrival.serials):
            if not serial:
                continue  # the error for a malformed serial is already reported
            if serial in there:
                yield invalid_field(f"{path}.{place}", "is in stock already")
            elif (item.article_id, serial) in seen:
                yield invalid_field(f"{path}.{place}", "is given twice")
            seen.add((item.article_id, serial))


def _over_receipts(arrivals: Sequence[tuple[int, Arrival]], company_pct: int) -> Iterator[FieldError]:
    """Yield an error for each item with too much received goods. All receptions together must not exceed the
    ordered quantity plus the tolerance.
    """
    sums = sums_of(arrival for _, arrival in arrivals)
    for number, arrival in arrivals:
        item = arrival.ordered
        pct = company_pct if item.over_receipt_pct is None else item.over_receipt_pct
        most = most_receivable(item.ordered, pct)
        if item.received + sums[item.id] > most:
            sentence = (
                f"is more than the order still allows: you entered {to_text(sums[item.id])}, and "
                f"{to_text(max(most - item.received, 0))} of {to_text(most)} can still be received"
            )
            yield invalid_field(f"selected_items.{number}.quantity_um3pl", sentence)


def sums_of(arrivals: Iterable[Arrival]) -> Mapping[int, int]:
    """Return the total arriving quantity of each order item, by the id of the order item. Quantities are in
    millionths of the article's unit.
    """
    sums: Counter[int] = Counter()
    for arrival in arrivals:
        sums[arrival.ordered.id] += arrival.quantity
    return sums
