"""Imports stock counts and opening stock: the rows of a file say what is in stock now."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from pydantic import ValidationError

from wmsd.articles import store as articles
from wmsd.articles.store import Reference
from wmsd.base.dataclass import dataclass
from wmsd.base.fields import Amount, Code, Input
from wmsd.base.importing import FirstSeen, Import, Outcome, Progress, Row, chunks
from wmsd.base.problems import FieldErrors
from wmsd.base.quantity import SCALE
from wmsd.base.validation import field_errors
from wmsd.db.staged_rows import put_down, put_down_before
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.stock import staging
from wmsd.stock.contents import PartKey
from wmsd.stock.counting import KIND, Count, Counting, add_missing
from wmsd.stock.ledger import post_staged
from wmsd.stock.rules import Counted
from wmsd.stock.schema import StockCountRow
from wmsd.stock.store import Place

REASON: Final = "stock count"
REFERENCES: Final = ("article_code", "warehouse_code")


class CountRow(Input):
    """A row of `import stock`: what a row of a count can say without lots."""

    article_code: Code
    warehouse_code: Code
    quantity: Amount


class StockCountImport(Import):
    """All rows of an article and warehouse together say what is in stock of it (`rules.count_parts`).

    `complete`: articles that have stock in a warehouse of the file and are not in the file count as not found.
    """

    checks_all = True

    def __init__(self, *, reason: str = REASON, complete: bool = False) -> None:
        self._reason, self._complete = reason, complete
        self._reader: Reader | None = None
        self._count = Count({})
        self._last_change = 0

    def gather(self, tx: Transaction, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        staging.make(tx, schema)
        return put_down(tx, schema, rows)

    def check(self, tx: Transaction, outcome: Outcome) -> None:
        """Plans the counts. When it is called again, it plans only places that have changed."""
        if self._reader is None or not self._reader.is_up_to_date(tx, self._last_change):
            self._reader = self._read(tx, outcome)
            self._count = Count(self._reader.places)
        self._last_change = tx.last_change()
        if self._complete and not outcome.errors:  # with faults, nobody knows what is missing
            add_missing(tx, self._count.places)
        self._count.plan(tx, outcome, self._reason)

    def _read(self, tx: Transaction, outcome: Outcome) -> "Reader":
        reader = Reader(directory.ids_by_code(tx, directory.WAREHOUSES))
        for chunk in chunks(put_down_before(tx)):
            codes = {str(row.values.get("article_code", "")) for row in chunk}
            known = {article.code: article for article in articles.references(tx, (), codes)}
            for row in chunk:
                outcome.refuse(row.line, reader.read(row, known))
        return reader

    def write(self, tx: Transaction, outcome: Outcome, progress: Progress) -> None:
        post_staged(tx, KIND)


@dataclass(slots=True)
class Reader:
    """Collects the rows by article and warehouse."""

    warehouses: Mapping[str, int]
    places: dict[Place, Counting] = field(default_factory=dict)
    _goods: FirstSeen = field(default_factory=FirstSeen)
    _serials: FirstSeen = field(default_factory=FirstSeen)

    def is_up_to_date(self, tx: Transaction, change: int) -> bool:
        """Whether the file's articles and all warehouses have stayed the same since this place in the change
        sequence.
        """
        changed = articles.changed_since(tx, change)
        if changed:
            codes, ids = {each.article.code for each in self.places.values()}, {place[0] for place in self.places}
            if any(article_id in ids or code in codes for article_id, code in changed):
                return False
        return directory.ids_by_code(tx, directory.WAREHOUSES) == self.warehouses

    def read(self, row: Row, known: Mapping[str, Reference]) -> FieldErrors:
        """The errors of the row; a row without errors is collected. `known` are the articles by code."""
        article_code, warehouse_code = (str(row.values.get(name, "")) for name in REFERENCES)
        article, warehouse_id = known.get(article_code), self.warehouses.get(warehouse_code)
        errors: FieldErrors = {}
        if article is None:
            errors["article_code"] = ["is not an article of this company"]
        if warehouse_id is None:
            errors["warehouse_code"] = ["is not a warehouse of this company"]
        goods = PartKey(
            *(None if row.values.get(name) is None else str(row.values[name]) for name in PartKey._fields)
        )
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
            return {**twice, **errors, **twice}  # listed first, and overrides errors of its cell
        counting.counts.append(Counted(goods, counted.quantity, counted.quarantined))
        counting.lines[goods] = row.line
        if counted.reason is not None:
            counting.reasons[goods] = counted.reason
        return {}

    def _twice(self, article_code: str, warehouse_code: str, goods: PartKey, line: int) -> FieldErrors:
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
