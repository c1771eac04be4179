"""Looks up what an order's lines refer to, and finds every error in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wmsd.base.field_errors import FieldError
from wmsd.db.transaction import Transaction
from wmsd.directory.store import WAREHOUSES
from wmsd.documents.references import Articles, check_record
from wmsd.sales_orders.explicit_lots import check_serials, find_explicit
from wmsd.sales_orders.rules import Place, shortages, wanted
from wmsd.sales_orders.schema import LineFields
from wmsd.sales_orders.store import ORDER_LINES, ORDERS
from wmsd.stock import store as stock
from wmsd.stock.reservations import NOTHING, Holder, Reservation, reservation_of

Row = dict[str, Any]
"""A line as it is stored: id, article_id, quantity, warehouse_id, lot_number, serials (JSON)."""


@dataclass(slots=True)
class Lines:
    """The stored form of the lines that were sent; an article that is not known is None."""

    rows: list[Row] = field(default_factory=list)
    errors: list[FieldError] = field(default_factory=list)


def find_lines(
    tx: Transaction,
    sent: Sequence[LineFields],
    warehouse_id: int,
    before: Sequence[Row] = (),
    warehouse_before: int | None = None,
    articles: Articles | None = None,
) -> Lines:
    """The lines with their articles. `warehouse_id` is the order's; a line without its own takes from there. What
    the order had before may stay, even if it is inactive now; a line that is sent with its id keeps it. `articles`
    are those of the lines, if they were read already.
    """
    found, articles = Lines(), articles or Articles(tx, sent)
    ids = {row["id"] for row in before}
    kept_articles = {row["article_id"] for row in before}
    bad_warehouses = _bad_warehouses(tx, sent, {warehouse_before, *(row["warehouse_id"] for row in before)})
    for number, line in enumerate(sent):
        article, error = articles.find(line, f"lines.{number}", kept_articles)
        article_id = article and article.id
        if error is not None:
            found.errors.append(error)
        found.errors += check_serials(line, f"lines.{number}", article is not None and article.tracks_serials)
        if line.warehouse_id in bad_warehouses:
            error = bad_warehouses[line.warehouse_id]
            found.errors.append(FieldError(error.code, f"lines.{number}.warehouse_id", error.sentence))
            article_id = None  # its place is not known, so nothing is said of its stock
        line_id = line.id if line.id in ids else None
        ids.discard(line_id)
        found.rows.append(
            ORDER_LINES.row(line, line_id, article_id=article_id, warehouse_id=line.warehouse_id or warehouse_id)
        )
    return found


def _bad_warehouses(
    tx: Transaction, sent: Sequence[LineFields], known: set[int | None]
) -> dict[int | None, FieldError]:
    """Errors of the warehouses that lines name. Those that the order had before are not checked again."""
    named = {line.warehouse_id for line in sent if line.warehouse_id is not None} - known
    return {
        warehouse_id: error
        for warehouse_id in sorted(named)
        for error in check_record(tx, WAREHOUSES, warehouse_id, "warehouse_id")
    }


def find_stock(
    tx: Transaction,
    order_id: int | None,
    rows: Sequence[Row],
    errors: list[FieldError],
    warehouse_id: int | None = None,
    there: Mapping[Place, tuple[int, int]] | None = None,
) -> Reservation:
    """What the order is to reserve. Adds an error for each line that is short. `there` is, by place, its stock
    record and the available quantity, if that was read already.

    What the order has reserved counts as available to it. When the order's own warehouse is wrong, the lines that
    take from it get no further errors.
    """
    bad_warehouse = warehouse_id if any(error.path == "warehouse_id" for error in errors) else None
    lines = [
        (None if place and place[1] == bad_warehouse else place, quantity) for place, quantity in _places(rows)
    ]
    before = reservation_of(tx, Holder(ORDERS.entity, order_id)) if order_id is not None else NOTHING
    sums = wanted(lines)
    there = stock.available_at(tx, sums) if there is None else there
    records = {place: there[place] for place in sums if place in there}
    free = {place: available + before.stock.get(stock_id, 0) for place, (stock_id, available) in records.items()}
    stock_ids = {place: stock_id for place, (stock_id, _) in records.items()}
    named = find_explicit(tx, order_id, rows, stock_ids, before)
    errors += [*shortages(lines, free), *named.errors]
    quantities = {stock_id: sums[place] for place, stock_id in stock_ids.items()}
    return Reservation(quantities, named.lots, frozenset(named.serials))


def places_of(rows: Sequence[Row]) -> set[Place]:
    return {place for place, _ in _places(rows) if place is not None}


def _places(rows: Sequence[Row]) -> list[tuple[Place | None, int]]:
    """Place and quantity of each line."""
    return [
        (None if row["article_id"] is None else (row["article_id"], row["warehouse_id"]), row["quantity"])
        for row in rows
    ]
