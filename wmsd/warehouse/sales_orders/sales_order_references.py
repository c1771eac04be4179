"""Finds the records to which the lines of a sales order refer, and the errors in the lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.field_errors import FieldError
from wmsd.contract.operation import MALFORMED
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.directory.store import WAREHOUSES
from wmsd.warehouse.documents.document_references import Articles, check_record, references_of
from wmsd.warehouse.documents.document_reservations import find_stock
from wmsd.warehouse.documents.explicit_lots import check_serials
from wmsd.warehouse.documents.whole_lines import whole_lines
from wmsd.warehouse.sales_orders.rules import TRANSITIONS
from wmsd.warehouse.sales_orders.schema import SalesOrderLineFields
from wmsd.warehouse.sales_orders.store import ORDER_LINES, ORDERS

Row = dict[str, Any]
"""A line as it is stored: id, article_id, quantity, warehouse_id, lot_number, serials (JSON)."""


@dataclass(slots=True)
class Lines:
    """The sent lines in stored form, and their errors. In a row, `article_id` is None if the article or the
    warehouse of the line has an error.
    """

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
    """Return the sent lines in stored form, with their articles and errors.

    `warehouse_id` is the order's warehouse. A line without a warehouse uses it. `before` are the stored lines, and
    `warehouse_before` is the stored warehouse of the order. Articles and warehouses that are already stored may be
    inactive.

    `articles` are the articles of the lines. If it is None, this function reads them.
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
            article_id = None  # without a valid warehouse, stock is not checked
        found.rows.append(
            ORDER_LINES.row(line, kept, article_id=article_id, warehouse_id=line.warehouse_id or warehouse_id)
        )
    return found


REFERENCES: Final = references_of(ORDERS)


def sent_errors(tx: Transaction, sent: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors in the references, well-formed lines and stock of a body that also has malformed values.
    The errors of the malformed values are reported elsewhere.

    `sent` is the body, with null in place of each malformed value.
    """
    reference_errors = list(REFERENCES(tx, sent, named))
    yield from reference_errors
    order_id = named.get("id")
    current = None if order_id is None else ORDERS.find_columns(tx, order_id)
    if order_id is not None and (current is None or current["status"] not in TRANSITIONS.lines_change_in):
        return
    warehouse_before = None if current is None else current["warehouse_id"]
    warehouse_id = sent.get("warehouse_id", warehouse_before)
    whole = whole_lines(ORDERS.lines, SalesOrderLineFields, sent, named[MALFORMED])
    if warehouse_id is None or "warehouse_id" in named[MALFORMED] or not whole.lines:
        return
    before = [] if order_id is None else ORDER_LINES.of(tx, order_id)
    found = find_lines(tx, whole.lines, warehouse_id, before, warehouse_before)
    errors = [*reference_errors, *found.errors]
    find_stock(tx, ORDERS, order_id, found.rows, errors, warehouse_id)
    yield from whole.errors(errors[len(reference_errors) :], reference_errors)


def _bad_warehouses(
    tx: Transaction, sent: Sequence[SalesOrderLineFields], known: set[int | None]
) -> dict[int | None, FieldError]:
    """Return an error for each warehouse in the lines that is unknown or inactive, by the id of the warehouse.
    Warehouses in `known` are not checked.
    """
    named = {line.warehouse_id for line in sent if line.warehouse_id is not None} - known
    return {
        warehouse_id: error
        for warehouse_id in sorted(named)
        for error in check_record(tx, WAREHOUSES, warehouse_id, "warehouse_id")
    }
