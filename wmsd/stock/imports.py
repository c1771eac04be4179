"""Stock counts and opening stock in bulk: the rows of a file say what is there now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import ValidationError

from wmsd.articles import store as articles
from wmsd.articles.store import Reference
from wmsd.base.fields import Amount, Code, Input
from wmsd.base.importing import FirstSeen, Outcome, Row, chunks
from wmsd.base.problems import FieldErrors
from wmsd.base.quantity import SCALE
from wmsd.base.validation import field_errors
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.stock.contents import Goods
from wmsd.stock.counting import Counting, CountOutcome, Place, add_missing, count
from wmsd.stock.rules import Counted
from wmsd.stock.schema import StockCountRow

REASON: Final = "stock count"
REFERENCES: Final = ("article_code", "warehouse_code")


class CountRow(Input):
    """A row of `import stock`: what a row of a count can say without lots."""

    article_code: Code
    warehouse_code: Code
    quantity: Amount


def import_stock(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    counted = CountOutcome(errors=outcome.errors)
    import_stock_count(tx, rows, counted, reason="import")
    outcome.updated, outcome.unchanged = counted.updated, counted.unchanged


def import_stock_count(
    tx: Transaction,
    rows: Iterable[Row],
    outcome: CountOutcome,
    *,
    reason: str | None = None,
    complete: bool = False,
) -> None:
    """The rows of an article and warehouse, taken together, say what is there of it (`rules.count_parts`).

    `complete`: what has stock in a warehouse that the file names, and is not in the file, was not found.
    """
    reader = Reader(directory.ids_by_code(tx, directory.WAREHOUSES))
    for chunk in chunks(rows):
        codes = {str(row.values.get("article_code", "")) for row in chunk}
        known = {article.code: article for article in articles.references(tx, (), codes)}
        for row in chunk:
            outcome.refuse(row.line, reader.read(row, known))
    if complete and not outcome.errors:  # what a file with faults leaves out is not known
        add_missing(tx, reader.places)
    count(tx, reader.places, reason or REASON, outcome)


@dataclass(slots=True)
class Reader:
    """Gathers the rows by article and warehouse."""

    warehouses: Mapping[str, int]
    places: dict[Place, Counting] = field(default_factory=dict)
    _goods: FirstSeen = field(default_factory=FirstSeen)
    _serials: FirstSeen = field(default_factory=FirstSeen)

    def read(self, row: Row, known: Mapping[str, Reference]) -> FieldErrors:
        """What is wrong with the row; `known` are articles by their codes."""
        article_code, warehouse_code = (str(row.values.get(name, "")) for name in REFERENCES)
        article, warehouse_id = known.get(article_code), self.warehouses.get(warehouse_code)
        errors: FieldErrors = {}
        if article is None:
            errors["article_code"] = ["is not an article of this company"]
        if warehouse_id is None:
            errors["warehouse_code"] = ["is not a warehouse of this company"]
        goods = Goods(*(None if row.values.get(name) is None else str(row.values[name]) for name in Goods._fields))
        twice = self._twice(article_code, warehouse_code, goods, row.line)
        counted: StockCountRow | None = None
        try:
            counted = StockCountRow.model_validate(row.values)
            errors |= self._own_errors(counted, row.line)
        except ValidationError as error:
            errors |= field_errors(error)
        if article is None or warehouse_id is None:
            return errors
        counting = self.places.setdefault(Place(article.id, warehouse_id), Counting(article, warehouse_code))
        if errors or twice or counted is None:
            counting.is_faulty |= bool(errors)
            return {**twice, **errors, **twice}  # of one cell it is the one that is told
        counting.counts.append(Counted(goods, counted.quantity, counted.quarantined))
        counting.lines[goods] = row.line
        if counted.reason is not None:
            counting.reasons[goods] = counted.reason
        return {}

    def _twice(self, article_code: str, warehouse_code: str, goods: Goods, line: int) -> FieldErrors:
        before = self._goods.line_before((article_code, warehouse_code, goods), line)
        if before is None:
            return {}
        column = "serial" if goods.serial else "lot_number" if goods.lot_number else "article_code"
        return {column: [f"is counted twice in this warehouse; first in row {before}"]}

    def _own_errors(self, row: StockCountRow, line: int) -> FieldErrors:
        errors: FieldErrors = {}
        if row.serial is not None and row.quantity not in (0, SCALE):
            errors["quantity"] = ["must be 1, or 0 where the serial was not found"]
        if row.serial is not None and row.quarantined not in (None, 0, SCALE):
            errors["quarantined"] = ["must be 0 or 1: it is one unit"]
        elif row.quarantined is not None and row.quarantined > row.quantity:
            errors["quarantined"] = ["is more than was counted"]
        if row.serial is not None and row.quantity:
            before = self._serials.line_before((row.article_code, row.serial), line)
            if before is not None:
                errors["serial"] = [f"is counted twice; first in row {before}"]
        return errors
