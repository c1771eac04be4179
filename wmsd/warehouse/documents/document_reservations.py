"""Finds the stock that a document must reserve for its lines, and the lines for which the stock is not enough."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wmsd.base.quantity import to_text
from wmsd.contract.field_errors import FieldError
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.explicit_lots import find_explicit
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.stock_reservations import NOTHING, Holder, Reservation, reservation_of
from wmsd.warehouse.stock.store import Place

Row = Mapping[str, Any]
"""A line in its stored form: article_id (None if the article is not known), warehouse_id, quantity, lot_number,
serials.
"""


class Demand(NamedTuple):
    """The quantity that one line needs, in millionths. `place` is the article, and the warehouse from which the
    line takes the quantity. `place` is None if one of them is not known.
    """

    place: Place | None
    quantity: int


def demand_of(rows: Sequence[Row]) -> list[Demand]:
    return [
        Demand(
            None if row["article_id"] is None else Place(row["article_id"], row["warehouse_id"]), row["quantity"]
        )
        for row in rows
    ]


def places_of(rows: Sequence[Row]) -> set[Place]:
    return {place for place, _ in demand_of(rows) if place is not None}


def sums(lines: Iterable[Demand]) -> dict[Place, int]:
    """Return the total quantity that the lines need from each place (article and warehouse)."""
    found: dict[Place, int] = {}
    for place, quantity in lines:
        if place is not None:
            found[place] = found.get(place, 0) + quantity
    return found


def shortages(lines: Sequence[Demand], available: Mapping[Place, int], name: str = "lines") -> list[FieldError]:
    """Return an error for each line whose article and warehouse have too little stock. All lines with the same
    article and warehouse count together.

    `available` has the available quantity of each place (article and warehouse), in millionths. `name` is the
    field with the lines.
    """
    together = sums(lines)
    return [
        FieldError(
            "INSUFFICIENT_STOCK",
            f"{name}.{number}.quantity",
            f"is more than the available stock: {to_text(available.get(place, 0))} available, "
            f"{to_text(together[place])} requested",
        )
        for number, (place, _) in enumerate(lines)
        if place is not None and together[place] > available.get(place, 0)
    ]


def find_stock(
    tx: Transaction,
    table: DocumentTable,
    document_id: int | None,
    rows: Sequence[Row],
    errors: list[FieldError],
    warehouse_id: int | None = None,
    there: Mapping[Place, tuple[int, int]] | None = None,
) -> Reservation:
    """Return the stock that the document must reserve. Add an error to `errors` for each line for which the stock
    is not enough.

    `there` has the id of the stock record and the available quantity in millionths, by article and warehouse. If
    `there` is None, the function reads these values. Stock that the document has already reserved is available to
    the document.

    `warehouse_id` is the document's own warehouse. If `errors` already has an error for this warehouse, the stock
    in it is not checked.
    """
    bad_warehouse = warehouse_id if any(error.path == "warehouse_id" for error in errors) else None
    lines = [
        line._replace(place=None) if line.place and line.place.warehouse_id == bad_warehouse else line
        for line in demand_of(rows)
    ]
    before = reservation_of(tx, Holder(table.entity, document_id)) if document_id is not None else NOTHING
    together = sums(lines)
    there = stock.available_at(tx, together) if there is None else there
    records = {place: there[place] for place in together if place in there}
    free = {place: available + before.stock.get(stock_id, 0) for place, (stock_id, available) in records.items()}
    stock_ids = {place: stock_id for place, (stock_id, _) in records.items()}
    named = find_explicit(tx, table, document_id, rows, stock_ids, before)
    errors += [*shortages(lines, free, table.lines), *named.errors]
    quantities = {stock_id: together[place] for place, stock_id in stock_ids.items()}
    return Reservation(quantities, named.lots, frozenset(named.serials))
