"""Looks up what an order's lines refer to, and finds every error in them."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from wmsd.base.dataclass import dataclass
from wmsd.contract.field_errors import FieldError
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory.store import WAREHOUSES
from wmsd.warehouse.documents.document_references import Articles, check_record
from wmsd.warehouse.documents.explicit_lots import check_serials
from wmsd.warehouse.sales_orders.schema import SalesOrderLineFields
from wmsd.warehouse.sales_orders.store import ORDER_LINES

Row = dict[str, Any]
"""A line as it is stored: id, article_id, quantity, warehouse_id, lot_number, serials (JSON)."""


@dataclass(slots=True)
class Lines:
    """The stored form of the lines that were sent; an article that is not known is None."""

    rows: list[Row] = field(default_factory=list)
    errors: list[FieldError] = field(default_factory=list)


def find_lines(
    tx: Transaction,
    sent: Sequence[SalesOrderLineFields],
    warehouse_id: int,
    before: Sequence[Row] = (),
    warehouse_before: int | None = None,
    articles: Articles | None = None,
) -> Lines:
    """The lines with their articles. `warehouse_id` is the order's; a line without its own takes from there. What
    the order had before may stay, even if it is inactive now; a line that is sent with its id keeps it. `articles`
    are those of the lines, if they were read already.
    """
    found, articles = Lines(), articles or Articles(tx, sent, before)
    bad_warehouses = _bad_warehouses(tx, sent, {warehouse_before, *(row["warehouse_id"] for row in before)})
    for number, (line, kept) in enumerate(zip(sent, ORDER_LINES.kept(sent, before), strict=True)):
        path = f"lines.{number}"
        article = articles.find(line, path, found.errors)
        article_id = article and article.id
        found.errors += check_serials(line, path, article is not None and article.tracks_serials)
        if error := bad_warehouses.get(line.warehouse_id):
            found.errors.append(FieldError(error.code, f"{path}.warehouse_id", error.sentence))
            article_id = None  # its place is not known, so nothing is said of its stock
        found.rows.append(
            ORDER_LINES.row(line, kept, article_id=article_id, warehouse_id=line.warehouse_id or warehouse_id)
        )
    return found


def _bad_warehouses(
    tx: Transaction, sent: Sequence[SalesOrderLineFields], known: set[int | None]
) -> dict[int | None, FieldError]:
    """Errors of the warehouses that lines name. Those that the order had before are not checked again."""
    named = {line.warehouse_id for line in sent if line.warehouse_id is not None} - known
    return {
        warehouse_id: error
        for warehouse_id in sorted(named)
        for error in check_record(tx, WAREHOUSES, warehouse_id, "warehouse_id")
    }
