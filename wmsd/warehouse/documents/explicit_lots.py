"""Checks whether the lots and serials that lines name are available to the document."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple, Protocol

from wmsd.base.dataclass import dataclass
from wmsd.base.quantity import SCALE, to_text
from wmsd.contract.field_errors import FieldError, invalid_field
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.stock import lots
from wmsd.warehouse.stock.stock_reservations import Reservation
from wmsd.warehouse.stock.store import Place

Row = Mapping[str, Any]


class NamesSerials(Protocol):
    """A line that may name the serials that it takes."""

    @property
    def quantity(self) -> int: ...

    @property
    def serials(self) -> Sequence[str] | None: ...


def check_serials(line: NamesSerials, path: str, tracks_serials: bool) -> Iterator[FieldError]:
    """Check the serials of a line against its quantity, and yield the errors. The stock is not read."""
    if tracks_serials and line.quantity % SCALE:
        yield invalid_field(f"{path}.quantity", "must be a whole number: the article is tracked by serials")
    if line.serials is None:
        return
    if len(line.serials) * SCALE != line.quantity:
        sentence = (
            f"must have one serial for each unit (units ordered: {to_text(line.quantity)}, serials "
            f"named: {len(line.serials)})"
        )
        yield invalid_field(f"{path}.serials", sentence)
    if len(set(line.serials)) < len(line.serials):
        yield invalid_field(f"{path}.serials", "contains the same serial twice")


@dataclass(slots=True)
class Named:
    """The lots and serials that lines name. `lots` has the needed quantity in millionths, by the id of the lot.
    `serials` has the ids of the serials.
    """

    lots: dict[int, int] = field(default_factory=dict)
    serials: set[int] = field(default_factory=set)
    errors: list[FieldError] = field(default_factory=list)


def find_explicit(
    tx: Transaction,
    table: DocumentTable,
    document_id: int | None,
    rows: Sequence[Row],
    stock_ids: Mapping[Place, int],
    held: Reservation,
) -> Named:
    """Return the lots and serials that the lines name, and an error for each lot or serial that is not available.

    `stock_ids` has the id of the stock record, by article and warehouse. `held` is the stock that the document has
    already reserved. This stock is available to the document.
    """
    named, free = Named(), dict(held.lots)
    lines_of: dict[int, list[tuple[str, str]]] = {}
    for number, row in enumerate(rows):
        stock_id = stock_ids.get(Place(row["article_id"], row["warehouse_id"]))
        if stock_id is None:
            continue  # the error for a missing stock record is already reported
        line = _Line(f"{table.lines}.{number}", row, stock_id, table.entity, document_id)
        for lot_number, quantity in _lots_named(tx, line, named).items():
            lot = lots.lot(tx, stock_id, lot_number)
            if lot is None:
                named.errors.append(_short(line.path, lot_number, 0, quantity))
                continue
            lot_id, is_free = lot
            free[lot_id] = is_free + held.lots.get(lot_id, 0)
            named.lots[lot_id] = named.lots.get(lot_id, 0) + quantity
            lines_of.setdefault(lot_id, []).append((line.path, lot_number))
    for lot_id, lines in lines_of.items():
        if named.lots[lot_id] > free[lot_id]:
            named.errors += [_short(path, lot, free[lot_id], named.lots[lot_id]) for path, lot in lines]
    return named


def _short(path: str, lot_number: str, free: int, wanted: int) -> FieldError:
    sentence = (
        f"is more than the available stock of lot {lot_number}: {to_text(free)} available, {to_text(wanted)} "
        "requested"
    )
    return FieldError("INSUFFICIENT_STOCK", f"{path}.quantity", sentence)


class _Line(NamedTuple):
    path: str
    row: Row
    stock_id: int
    holder_kind: str
    holder_id: int | None


def _lots_named(tx: Transaction, line: _Line, named: Named) -> Mapping[str, int]:
    """Return the quantity that the line takes from each lot, by the lot's number. If the line names serials, these
    are the lots of its serials. Otherwise it is the lot that the line names.

    Also add the serials to `named`.
    """
    if line.row["serials"] is not None:
        return _find_serials(tx, line, named)
    return {} if line.row["lot_number"] is None else {line.row["lot_number"]: line.row["quantity"]}


def _find_serials(tx: Transaction, line: _Line, named: Named) -> Counter[str]:
    """Add each serial of the line to `named`, or an error if the serial is not available. Return how many of the
    added serials are in each lot, in millionths.
    """
    of_lots: Counter[str] = Counter()
    names, lot_number = json.loads(line.row["serials"]), line.row["lot_number"]
    found = lots.serials(tx, line.row["article_id"], names)
    for place, name in enumerate(names):
        path, serial = f"{line.path}.serials.{place}", found.get(name)
        if serial is None or not serial.is_free(line.stock_id, line.holder_kind, line.holder_id):
            named.errors.append(
                FieldError("INSUFFICIENT_STOCK", path, "is not available in the warehouse of the line")
            )
        elif lot_number not in (None, serial.lot_number):
            named.errors.append(invalid_field(path, f"does not belong to lot {lot_number}"))
        elif serial.id in named.serials:
            named.errors.append(invalid_field(path, "is also on another line"))
        else:
            named.serials.add(serial.id)
            if serial.lot_number is not None:
                of_lots[serial.lot_number] += SCALE
    return of_lots
