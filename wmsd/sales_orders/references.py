"""Looks up what an order refers to, and finds what is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wmsd.articles import store as articles
from wmsd.base.flaws import Flaw
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.directory.store import CLIENTS, PARTNERS, WAREHOUSES
from wmsd.sales_orders import store
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
    named = _Articles(tx, sent)
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
                warehouses[warehouse_id] = list(_directory(tx, WAREHOUSES, warehouse_id, path))
            found.flaws += [Flaw(each.code, path, each.sentence) for each in warehouses[warehouse_id]]
            if warehouses[warehouse_id]:
                article_id = None  # its place is not known, so nothing is said of its stock
        line_id = line.id if line.id in ids else None
        ids.discard(line_id)
        found.rows.append(
            {"id": line_id, "article_id": article_id, "quantity": line.quantity, "warehouse_id": warehouse_id}
        )
    return found


class _Articles:
    """The articles that some lines name, read at once."""

    def __init__(self, tx: Transaction, lines: Sequence[LineFields]) -> None:
        ids = {line.article_id for line in lines if line.article_id is not None}
        codes = {line.article_code for line in lines if line.article_id is None and line.article_code is not None}
        found = articles.references(tx, ids, codes)
        self._by_id = {article.id: article for article in found}
        self._by_code = {article.code: article for article in found}

    def find(self, line: LineFields, path: str, kept: set[int]) -> tuple[int | None, Flaw | None]:
        """The line's article, or what is wrong with it."""
        if line.article_id is not None:
            named, article = f"{path}.article_id", self._by_id.get(line.article_id)
        elif line.article_code is not None:
            named, article = f"{path}.article_code", self._by_code.get(line.article_code)
        else:
            return None, Flaw("INVALID_ARTICLE", f"{path}.article_id", "is required, or article_code")
        if article is None:
            return None, Flaw("INVALID_ARTICLE", named, "is not an article of this company")
        if line.article_code not in (None, article.code):
            sentence = f"is not the code of article {article.id}"
            return None, Flaw("INVALID_ARTICLE", f"{path}.article_code", sentence)
        if not article.is_active and article.id not in kept:
            return None, Flaw("INVALID_ARTICLE", named, "is an article that is not active")
        return article.id, None


def check_fields(
    tx: Transaction, order_id: int | None, values: Mapping[str, Any], current: Mapping[str, Any]
) -> Iterator[Flaw]:
    """What is wrong with the order's own references; those that stay as they were are not asked again."""
    if values["partner_id"] != current.get("partner_id"):
        yield from _directory(tx, PARTNERS, values["partner_id"], "partner_id")
    if values["warehouse_id"] != current.get("warehouse_id"):
        yield from _directory(tx, WAREHOUSES, values["warehouse_id"], "warehouse_id")
    client_id = values["client_id"]
    if client_id is not None and not directory.exists(tx, CLIENTS, client_id):
        yield Flaw("VALIDATION_FAILED", "client_id", "is not a client of this company")
    for name, holder in (("code", store.id_of_code), ("external_ref", store.id_of_external_ref)):
        if values[name] is not None and holder(tx, values[name]) not in (None, order_id):
            yield Flaw("VALIDATION_FAILED", name, "is taken by another sales order")


CODE_OF: Mapping[str, str] = {"partner": "INVALID_PARTNER", "warehouse": "INVALID_WAREHOUSE"}


def _directory(tx: Transaction, kind: directory.DirectoryKind, record_id: int, path: str) -> Iterator[Flaw]:
    is_active = directory.is_active(tx, kind, record_id)
    if is_active is None:
        yield Flaw(CODE_OF[kind.name], path, f"is not a {kind.name} of this company")
    elif not is_active:
        yield Flaw(CODE_OF[kind.name], path, f"is a {kind.name} that is not active")


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
