"""Imports row by row, through the actions for single records: directory and packaging.

Whether a row is valid depends on the rows before it, so all checks are part of the writing.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from wmsd.contract.bulk_imports import Import, Outcome, Progress, Row
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.staged_rows import put_down, put_down_before

Upsert = Callable[..., None]
"""Takes the transaction, the rows, the outcome, and the kind's own options by name."""
STRIDE: Final = 100


class RowByRow(Import):
    checks_all = False

    def __init__(self, upsert: Upsert, **options: Any) -> None:
        self._upsert = partial(upsert, **options)
        self._count = 0

    def gather(self, tx: Transaction, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        self._count = put_down(tx, schema, rows)
        return self._count

    def check(self, tx: Transaction, outcome: Outcome) -> None:
        pass

    def write(self, tx: Transaction, outcome: Outcome, progress: Progress) -> None:
        self._upsert(tx, self._rows(tx, progress), outcome)

    def _rows(self, tx: Transaction, progress: Progress) -> Iterator[Row]:
        for number, row in enumerate(put_down_before(tx)):
            if number % STRIDE == 0:
                progress(number, self._count)
            yield row


def row_by_row(upsert: Upsert, **bound: Any) -> Callable[..., Import]:
    return partial(RowByRow, upsert, **bound)
