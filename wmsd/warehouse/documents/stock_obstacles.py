"""Checks that need both documents and stock:
- An article cannot switch its tracking by serials on or off if certain open documents contain the article
  (`warehouse/articles/tracking_rules.py`).
- A posting must not raise a balance above the maximum.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from wmsd.base.quantity import MAXIMUM, to_text
from wmsd.contract.field_errors import FieldError, invalid_field
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles.tracking_rules import Obstacle
from wmsd.warehouse.documents.checks import sql_names
from wmsd.warehouse.documents.table import DocumentTable
from wmsd.warehouse.stock import store as stock


def fractional_lines(table: DocumentTable, statuses: Iterable[str]) -> Obstacle:
    return _lines(table, statuses, "on", "line.quantity % 1000000", "lines with fractions of a unit")


def named_serials(table: DocumentTable, statuses: Iterable[str]) -> Obstacle:
    return _lines(table, statuses, "off", "line.serials IS NOT NULL", "serials of the article")


def _lines(
    table: DocumentTable, statuses: Iterable[str], switched: Literal["on", "off"], condition: str, what: str
) -> Obstacle:
    name, lines = table.name, table.line_table
    exists = f"""
        SELECT EXISTS (
            SELECT 1 FROM {name} CROSS JOIN {lines.name} AS line ON line.{lines.document} = {name}.id
            WHERE {name}.status IN ({sql_names(statuses)}) AND line.article_id = :id AND {condition}
        )
    """
    return Obstacle(switched, exists, f"open {table.noun}s have {what}")


class Incoming(NamedTuple):
    """A quantity, in millionths, that enters a stock record. `path` is the field with the quantity."""

    path: str
    stock_id: int
    quantity: int


def overfull(tx: Transaction, incoming: Sequence[Incoming]) -> Iterator[FieldError]:
    """Yield an error for each quantity that would raise the balance of its stock record above the maximum."""
    sums: Counter[int] = Counter()
    balances = stock.quantities(tx, [each.stock_id for each in incoming])
    for path, stock_id, quantity in incoming:
        sums[stock_id] += quantity
        if balances[stock_id] + sums[stock_id] > MAXIMUM:
            yield invalid_field(path, f"would raise the stock balance above {to_text(MAXIMUM)}")
