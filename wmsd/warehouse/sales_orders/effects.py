"""The effects of transitions on stock, as declared in `rules.py`."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from wmsd.base.problems import invalid
from wmsd.base.quantity import MAXIMUM, SCALE, to_text
from wmsd.base.strict_json import dumps
from wmsd.contract.field_errors import FieldError, refuse_field_errors
from wmsd.contract.results import Records
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.dependents import Dependents
from wmsd.warehouse.documents.document_reservations import find_stock
from wmsd.warehouse.sales_orders import store
from wmsd.warehouse.sales_orders.rules import TRANSITIONS, Effect
from wmsd.warehouse.sales_orders.store import ORDER_LINES, ORDERS
from wmsd.warehouse.stock import lots
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.lots import Part, oldest_parts
from wmsd.warehouse.stock.stock_ledger import Kind, Movement, net_out, post_all
from wmsd.warehouse.stock.stock_reservations import (
    Holder,
    release_reservations,
    reservations_of,
    set_reservation,
)

MOVED: Final = ("loading", "unloading")


def load(tx: Transaction, order_ids: Sequence[int]) -> None:
    """Post the goods of the orders out of stock, and release their reservations.

    A line without lots or serials takes the oldest goods, but not the goods that another line names. Therefore
    lines that name lots or serials are posted first.
    """
    reservations = reservations_of(tx, ORDERS.entity, order_ids)
    if any(each.lots or each.serials for each in reservations.values()) and len(order_ids) > 1:
        for order_id in order_ids:
            load(tx, [order_id])
        return
    release_reservations(tx, ORDERS.entity, reservations)
    out: list[tuple[int, Movement]] = []
    for line in store.loads(tx, order_ids):
        if line.has_lots and out:  # the oldest lots depend on the goods that have already left
            post_all(tx, out)
            out = []
        out += [
            (line.stock_id, _movement("loading", line.order_id, line.line_id, part, -part.quantity))
            for part in _parts(tx, line)
        ]
    post_all(tx, out)


def _parts(tx: Transaction, line: store.Load) -> list[Part]:
    if not line.has_lots:
        return [Part(line.quantity)]
    if line.serials is None:
        return oldest_parts(tx, line.stock_id, line.quantity, line.lot_number)
    found = lots.serials(tx, line.article_id, json.loads(line.serials))
    return [Part(SCALE, serial.lot_number, serial.serial) for serial in found.values()]


def _movement(kind: Kind, order_id: int, line_id: int, part: Part, quantity: int) -> Movement:
    return Movement(
        quantity,
        kind=kind,
        lot_number=part.lot_number,
        serial=part.serial,
        document_id=order_id,
        document_line_id=line_id,
    )


def unload(tx: Transaction, order_ids: Sequence[int]) -> None:
    """Return the loaded goods of the orders to stock, and reserve them again. The loaded goods are read from the
    ledger.
    """
    for order_id in order_ids:
        _unload(tx, order_id)


def _unload(tx: Transaction, order_id: int) -> None:
    if (code := tx.service(Dependents).find(tx, ORDERS.name, [order_id])) is not None:
        raise TRANSITIONS.forbidden(
            f"Return {code} has goods of this sales order, so the order cannot be unloaded.",
            "INCARCAT",
            "IN_LUCRU",
        )
    loaded = net_out(tx, order_id, MOVED)
    _check_return(tx, loaded)
    back = [
        (stock_id, _movement("unloading", order_id, line_id, part, part.quantity))
        for line_id, stock_id, part in loaded
    ]
    post_all(tx, back)
    errors: list[FieldError] = []
    wanted = find_stock(tx, ORDERS, order_id, ORDER_LINES.of(tx, order_id), errors)
    refuse_field_errors(errors)
    set_reservation(tx, Holder(ORDERS.entity, order_id), wanted)


def loaded_goods(tx: Transaction, order_id: int) -> Records:
    """Return the goods that have left with the order. They include the lots and serials that wmsd chose at
    loading.
    """
    return Records(",".join(_as_json(line_id, part) for line_id, _, part in net_out(tx, order_id, MOVED)))


def _as_json(line_id: int, part: Part) -> str:
    named = f'"lot_number":{dumps(part.lot_number)},"serial":{dumps(part.serial)}'
    return f'{{"line_id":{line_id},"quantity":{to_text(part.quantity)},{named}}}'


def _check_return(tx: Transaction, loaded: list[tuple[int, int, Part]]) -> None:
    """Raise Problem (422) if the goods cannot come back, because a balance would become too large or a serial
    would be in stock twice.
    """
    sums: dict[int, int] = {}
    serials: dict[int, list[str]] = {}
    for _, stock_id, part in loaded:
        sums[stock_id] = sums.get(stock_id, 0) + part.quantity
        if part.serial is not None:
            serials.setdefault(stock_id, []).append(part.serial)
    for stock_id, quantity in sums.items():
        if stock.balance(tx, stock_id)["quantity"] + quantity > MAXIMUM:
            raise invalid(
                {"status": [f"would raise a stock balance above {to_text(MAXIMUM)}; count the stock first"]}
            )
    for stock_id, names in serials.items():
        for name in lots.serials(tx, stock.place_of(tx, stock_id).article_id, names):
            raise invalid({"status": [f"would bring the serial {name} into stock a second time"]})


def release(tx: Transaction, order_ids: Sequence[int]) -> None:
    release_reservations(tx, ORDERS.entity, reservations_of(tx, ORDERS.entity, order_ids))


def leave(tx: Transaction, order_ids: Sequence[int]) -> None:
    """Do nothing. Transitions that do not affect stock have this function as their effect."""


EFFECTS: Final[Mapping[Effect, Callable[[Transaction, Sequence[int]], None]]] = {
    Effect.NONE: leave,
    Effect.LOAD: load,
    Effect.UNLOAD: unload,
    Effect.RELEASE: release,
}
