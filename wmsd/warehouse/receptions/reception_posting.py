"""The effects of finalising a reception: the goods enter the stock, and the order's received quantities rise."""

from collections.abc import Iterator, Sequence
from typing import Final

from wmsd.base.quantity import SCALE
from wmsd.contract.field_errors import FieldError, refuse_field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.events.outbox.events import record_event
from wmsd.warehouse.documents.document_events import move_and_emit
from wmsd.warehouse.documents.stock_obstacles import Incoming, overfull
from wmsd.warehouse.purchase_orders import store as orders
from wmsd.warehouse.purchase_orders.rules import status_after_reception
from wmsd.warehouse.purchase_orders.store import ORDERS
from wmsd.warehouse.receptions import store
from wmsd.warehouse.receptions.reception_references import (
    Arrival,
    check_order_is_open,
    find_arrivals,
    sums_of,
)
from wmsd.warehouse.receptions.rules import FINAL
from wmsd.warehouse.receptions.store import RECEPTION_ITEMS, RECEPTIONS
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.stock_ledger import Movement, post_all

KIND: Final = "receipt"


def post_reception(tx: Transaction, reception_id: int) -> None:
    """Post the goods of the reception to stock.

    The reception is checked again, because the order or the stock may have changed since the reception was stored.
    Raise Problem 409 if the status of the order forbids receptions. Raise Problem 422 for all other errors.
    """
    reception = RECEPTIONS.columns(tx, reception_id)
    check_order_is_open(tx, reception, FINAL)
    errors: list[FieldError] = []
    arrivals = find_arrivals(tx, reception["purchase_order_id"], RECEPTION_ITEMS.of(tx, reception_id), errors)
    articles = (arrival.ordered.article_id for arrival in arrivals)
    stock_ids = stock.ids_in(tx, reception["warehouse_id"], articles)
    incoming = [
        Incoming(f"selected_items.{number}.quantity_um3pl", stock_ids[each.ordered.article_id], each.quantity)
        for number, each in enumerate(arrivals)
    ]
    errors += overfull(tx, incoming)
    refuse_field_errors(errors)
    post_all(tx, [*_movements(reception_id, arrivals, stock_ids)])
    store.keep_posted(tx, {arrival.item_id: arrival.quantity for arrival in arrivals if arrival.item_id})
    orders.receive(tx, sums_of(arrivals))


def _movements(
    reception_id: int, arrivals: Sequence[Arrival], stock_ids: dict[int, int]
) -> Iterator[tuple[int, Movement]]:
    """Yield the movements of the items, each with the id of its stock record. An item with serials has one
    movement for each serial. Any other item has one movement.
    """
    for arrival in arrivals:
        movement = Movement(
            arrival.quantity,
            kind=KIND,
            lot_number=arrival.lot_number,
            document_id=reception_id,
            document_line_id=arrival.item_id,
        )
        units = [movement._replace(quantity=SCALE, serial=serial) for serial in arrival.serials]
        for each in units or [movement]:
            yield stock_ids[arrival.ordered.article_id], each


def update_order(tx: Transaction, reception_id: int) -> None:
    """Set the status of the reception's order according to the received quantities. If goods are still missing,
    record the event `reception.partial`.
    """
    order_id = RECEPTIONS.columns(tx, reception_id)["purchase_order_id"]
    current = ORDERS.columns(tx, order_id)["status"]
    items = orders.received(tx, order_id)
    status = status_after_reception(items)
    if status == current:
        ORDERS.touch(tx, order_id)
    else:
        move_and_emit(tx, ORDERS, [order_id], current, status)
    if any(received < ordered for ordered, received in items):
        record_event(tx, "reception.partial", reception_id, store.partial_data(tx, reception_id))
