"""The import of stock counts and opening stock. The rows of a file give the current stock."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from pydantic import ValidationError

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors
from wmsd.base.quantity import SCALE
from wmsd.contract.bulk_imports import Import, Outcome, Progress, Row, chunks
from wmsd.contract.fields import Amount, Code, Input
from wmsd.contract.validation import field_errors
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.staged_rows import make_tables, put_down, put_down_before
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.articles.store import Reference
from wmsd.warehouse.directory import store as directory
from wmsd.warehouse.stock import count_staging, stock_staging
from wmsd.warehouse.stock.count_staging import PlaceOfRow
from wmsd.warehouse.stock.counts import KIND, Count
from wmsd.warehouse.stock.parts import PartKey
from wmsd.warehouse.stock.rules import Counted
from wmsd.warehouse.stock.schema import StockCountRow
from wmsd.warehouse.stock.stock_ledger import post_staged
from wmsd.warehouse.stock.store import Place

REASON: Final = "stock count"
REFERENCES: Final = ("article_code", "warehouse_code")


class CountRow(Input):
    """A row of `wmsd import stock`. It has the columns of a stock count, except those for lots and serials."""

    article_code: Code
    warehouse_code: Code
    quantity: Amount


class StockCountImport(Import):
    """A stock count in a file. The rows of an article and warehouse together give its whole stock in this
    warehouse (`rules.count_parts`).

    With `complete`, an article without a row for a warehouse of the file gets the stock 0 in this warehouse.
    """

    checks_all = True

    def __init__(self, *, reason: str = REASON, complete: bool = False) -> None:
        self._reason, self._complete = reason, complete
        self._warehouses: Mapping[str, int] = {}
        self._count = Count()
        self._last_change: int | None = None

    def gather(self, tx: Transaction, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        make_tables(tx, schema, (*stock_staging.TABLES, *count_staging.TABLES))
        return put_down(tx, schema, rows)

    def check(self, tx: Transaction, outcome: Outcome) -> None:
        """Compute the changes of stock. A later call computes only changes of stock that has changed since the
        previous call.
        """
        if not self._is_as_before(tx):
            self._read(tx, outcome)
            self._count = Count()
        self._last_change = tx.last_change()
        if self._complete and not outcome.errors:  # with faulty rows, it is unknown which goods are missing
            count_staging.put_missing(tx)
        self._count.plan(tx, outcome, self._reason)

    def _is_as_before(self, tx: Transaction) -> bool:
        """Return True if no warehouse and no article of the file has changed since the file was read."""
        return (
            self._last_change is not None
            and not count_staging.are_concerned_since(tx, self._last_change)
            and directory.ids_by_code(tx, directory.WAREHOUSES) == self._warehouses
        )

    def _read(self, tx: Transaction, outcome: Outcome) -> None:
        self._warehouses = directory.ids_by_code(tx, directory.WAREHOUSES)
        count_staging.empty(tx)
        for chunk in chunks(put_down_before(tx)):
            codes = {str(row.values.get("article_code", "")) for row in chunk}
            known = {article.code: article for article in articles.references(tx, (), codes)}
            reader = Reader(tx, self._warehouses, known)
            for row in chunk:
                outcome.refuse(row.line, reader.read(row))
            count_staging.put_places(tx, reader.places)

    def write(self, tx: Transaction, outcome: Outcome, progress: Progress) -> None:
        post_staged(tx, KIND)


@dataclass(slots=True)
class Reader:
    """Reads some rows of a file, and stores their counts in temporary tables (`count_staging.py`).

    `warehouses` has the ids of the warehouses by code. `known` has the articles of these rows by code.
    """

    tx: Transaction
    warehouses: Mapping[str, int]
    known: Mapping[str, Reference]
    places: list[PlaceOfRow] = field(default_factory=list)
    """The article and the warehouse of each row that was read."""

    def read(self, row: Row) -> FieldErrors:
        """Store the count of the row, and return the errors of the row. If the row has errors, its count is stored
        without a quantity.
        """
        article_code, warehouse_code = (str(row.values.get(name, "")) for name in REFERENCES)
        article, warehouse_id = self.known.get(article_code), self.warehouses.get(warehouse_code)
        errors: FieldErrors = {}
        if article is None:
            errors["article_code"] = ["is not an article of this company"]
        if warehouse_id is None:
            errors["warehouse_code"] = ["is not a warehouse of this company"]
        counted: StockCountRow | None = None
        try:
            counted = StockCountRow.model_validate(row.values)
            errors |= self._own_errors(counted, row.line)
        except ValidationError as error:
            errors |= field_errors(error)
        if article is None or warehouse_id is None:
            return errors
        twice = self._put(row, Place(article.id, warehouse_id), None if errors else counted)
        is_faulty = bool(errors)
        self.places.append(
            PlaceOfRow(article.id, warehouse_id, article.code, warehouse_code, article.tracks_serials, is_faulty)
        )
        return {**twice, **errors, **twice}  # `twice` comes first, and replaces other errors of the same cell

    def _put(self, row: Row, place: Place, counted: StockCountRow | None) -> FieldErrors:
        """Store the count of the row. Return an error if an earlier row has counted the same goods."""
        goods = PartKey(
            *(None if row.values.get(name) is None else str(row.values[name]) for name in PartKey._fields)
        )
        amounts = None if counted is None else Counted(goods, counted.quantity, counted.quarantined)
        reason = None if counted is None else counted.reason
        first = count_staging.put(self.tx, row.line, place, goods, amounts, reason)
        if first == row.line:
            return {}
        column = "serial" if goods.serial else "lot_number" if goods.lot_number else "article_code"
        return {column: [f"is counted twice in this warehouse; first in row {first}"]}

    def _own_errors(self, row: StockCountRow, line: int) -> FieldErrors:
        errors: FieldErrors = {}
        if row.serial is not None and row.quantity not in (0, SCALE):
            errors["quantity"] = ["must be 1, or 0 if the serial was not found"]
        if row.serial is not None and row.quarantined not in (None, 0, SCALE):
            errors["quarantined"] = ["must be 0 or 1: a serial is one unit"]
        elif row.quarantined is not None and row.quarantined > row.quantity:
            errors["quarantined"] = ["must be at most the counted quantity"]
        if row.serial is not None and row.quantity:
            first = count_staging.put_serial(self.tx, row.article_code, row.serial, line)
            if first != line:
                errors["serial"] = [f"is counted twice; first in row {first}"]
        return errors
