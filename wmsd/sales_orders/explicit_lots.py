"""Lines that name the lot or the serials to take: are those available to the order?"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wmsd.base.field_errors import FieldError
from wmsd.base.quantity import SCALE, to_text
from wmsd.db.transaction import Transaction
from wmsd.sales_orders.schema import LineFields
from wmsd.sales_orders.store import ORDERS
from wmsd.stock import lots
from wmsd.stock.reservations import Reservation

Row = dict[str, Any]


def check_serials(line: LineFields, path: str, tracks_serials: bool) -> Iterator[FieldError]:
    """Errors of the line itself, whatever is in stock."""
    if tracks_serials and line.quantity % SCALE:
        yield FieldError(
            "VALIDATION_FAILED", f"{path}.quantity", "must be whole: the article is tracked by serials"
        )
    if line.serials is None:
        return
    if len(line.serials) * SCALE != line.quantity:
        sentence = f"must be one for each unit: {to_text(line.quantity)} ordered, {len(line.serials)} named"
        yield FieldError("VALIDATION_FAILED", f"{path}.serials", sentence)
    if len(set(line.serials)) < len(line.serials):
        yield FieldError("VALIDATION_FAILED", f"{path}.serials", "names one twice")


@dataclass(slots=True)
class Named:
    """The lots that lines name, with quantities in millionths, and the serials, by their ids."""

    lots: dict[int, int] = field(default_factory=dict)
    serials: set[int] = field(default_factory=set)
    errors: list[FieldError] = field(default_factory=list)


def find_explicit(
    tx: Transaction,
    order_id: int | None,
    rows: Sequence[Row],
    stock_ids: Mapping[tuple[int, int], int],
    held: Reservation,
) -> Named:
    """`stock_ids` are the stock records by article and warehouse. What the order has reserved counts as available
    to it.
    """
    named, free = Named(), dict(held.lots)
    lines_of: dict[int, list[tuple[int, str]]] = {}
    for number, row in enumerate(rows):
        stock_id = stock_ids.get((row["article_id"], row["warehouse_id"]))
        if stock_id is None:
            continue  # nothing is there, which was said
        for lot_number, quantity in _lots_named(tx, order_id, row, number, stock_id, named).items():
            lot = lots.lot(tx, stock_id, lot_number)
            if lot is None:
                named.errors.append(_short(number, lot_number, 0, quantity))
                continue
            lot_id, is_free = lot
            free[lot_id] = is_free + held.lots.get(lot_id, 0)
            named.lots[lot_id] = named.lots.get(lot_id, 0) + quantity
            lines_of.setdefault(lot_id, []).append((number, lot_number))
    for lot_id, lines in lines_of.items():
        if named.lots[lot_id] > free[lot_id]:
            named.errors += [_short(line, lot, free[lot_id], named.lots[lot_id]) for line, lot in lines]
    return named


def _short(number: int, lot_number: str, free: int, wanted: int) -> FieldError:
    sentence = f"is more than lot {lot_number} has: {to_text(free)} available, {to_text(wanted)} wanted"
    return FieldError("INSUFFICIENT_STOCK", f"lines.{number}.quantity", sentence)


def _lots_named(
    tx: Transaction, order_id: int | None, row: Row, number: int, stock_id: int, named: Named
) -> Mapping[str, int]:
    """How much the line takes of which lots: the lot that it names, or the lots of its serials."""
    if row["serials"] is not None:
        return _find_serials(tx, order_id, row, number, stock_id, named)
    return {} if row["lot_number"] is None else {row["lot_number"]: row["quantity"]}


def _find_serials(
    tx: Transaction, order_id: int | None, row: Row, number: int, stock_id: int, named: Named
) -> Counter[str]:
    """Adds the line's serials to the named ones. Answers how much they take of which lots."""
    of_lots: Counter[str] = Counter()
    names = json.loads(row["serials"])
    found = lots.serials(tx, row["article_id"], names)
    for place, name in enumerate(names):
        path = f"lines.{number}.serials.{place}"
        serial = found.get(name)
        if serial is None or not serial.is_free(stock_id, ORDERS.entity, order_id):
            named.errors.append(FieldError("INSUFFICIENT_STOCK", path, "is not there, or not available"))
        elif row["lot_number"] not in (None, serial.lot_number):
            sentence = f"is not of lot {row['lot_number']}"
            named.errors.append(FieldError("VALIDATION_FAILED", path, sentence))
        elif serial.id in named.serials:
            named.errors.append(FieldError("VALIDATION_FAILED", path, "is named by another line too"))
        else:
            named.serials.add(serial.id)
            if serial.lot_number is not None:
                of_lots[serial.lot_number] += SCALE
    return of_lots
