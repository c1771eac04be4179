"""Looks up what an order's lines refer to, and finds what is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wmsd.base.flaws import Flaw
from wmsd.db.transaction import Transaction
from wmsd.directory.store import WAREHOUSES
from wmsd.documents.references import Articles, check_record
from wmsd.sales_orders.rules import Place, shortages, wanted
from wmsd.sales_orders.schema import LineFields
from wmsd.stock import store as stock

Row = dict[str, Any]
"""A line as it is stored: id, article_id, quantity, warehouse_id (None: the order's)."""


@dataclass(slots=True)
class Lines:
    """The stored form of the lines that were sent; an article that is not known is None."""

    rows: list[Row] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)


def find_lines(tx: Transaction, sent: Sequence[LineFields], before: Sequence[Row] = ()) -> Lines:
    """The lines with their articles and warehouses looked up. What was in the order before may stay in it,
    though it is no longer active; a line that is sent with the id of one of them keeps it.
    """
    found = Lines()
    named = Articles(tx, sent)
    ids = {row["id"] for row in before}
    kept_articles = {row["article_id"] for row in before}
    kept_warehouses = {row["warehouse_id"] for row in before}
    warehouses: dict[int, list[Flaw]] = {}
    for number, line in enumerate(sent):
        article_id, flaw = named.find(line, f"lines.{number}", kept_articles)
        if flaw is not None:
            found.flaws.append(flaw)
        warehouse_id = line.warehouse_id
        if warehouse_id is not None and warehouse_id not in kept_warehouses:
            path = f"lines.{number}.warehouse_id"
            if warehouse_id not in warehouses:
                warehouses[warehouse_id] = list(check_record(tx, WAREHOUSES, warehouse_id, path))
            found.flaws += [Flaw(each.code, path, each.sentence) for each in warehouses[warehouse_id]]
            if warehouses[warehouse_id]:
                article_id = None  # its place is not known, so nothing is said of its stock
        line_id = line.id if line.id in ids else None
        ids.discard(line_id)
        found.rows.append(
            {"id": line_id, "article_id": article_id, "quantity": line.quantity, "warehouse_id": warehouse_id}
        )
    return found


def find_stock(
    tx: Transaction, order_id: int | None, rows: Sequence[Row], warehouse_id: int, flaws: list[Flaw]
) -> dict[int, int]:
    """What the order is to hold, stock id to millionths. Adds a flaw for each line that is short of it.

    What the order holds already is there for it. Of lines with a flaw before, nothing more is said.
    """
    is_known = not any(flaw.path == "warehouse_id" for flaw in flaws)
    lines = places(rows, warehouse_id if is_known else None)
    held = stock.held(tx, order_id) if order_id is not None else {}
    sums = wanted(lines)
    records = stock.available_at(tx, sums)
    free = {place: available + held.get(stock_id, 0) for place, (stock_id, available) in records.items()}
    flaws += shortages(lines, free)
    return {stock_id: sums[place] for place, (stock_id, _) in records.items()}


def places(rows: Sequence[Row], warehouse_id: int | None) -> list[tuple[Place | None, int]]:
    """How much is taken from where, line by line; `warehouse_id` is the order's. None: not known."""
    return [(_place(row["article_id"], row["warehouse_id"] or warehouse_id), row["quantity"]) for row in rows]


def _place(article_id: int | None, warehouse_id: int | None) -> Place | None:
    return None if article_id is None or warehouse_id is None else (article_id, warehouse_id)
