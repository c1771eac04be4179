"""Stores the rows of an import, or objects created from them, until a later step of the import (see `staging.py`).
They are read in the order in which they were stored.
"""

import pickle
from collections.abc import Iterable, Iterator
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.bulk_imports import Row, chunks
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True)
class PickledRows:
    """A table that stores pickled objects in their order."""

    name: str

    def make(self, tx: Transaction, schema: str) -> None:
        tx.execute(f"CREATE TABLE {schema}.{self.name} (place INTEGER PRIMARY KEY, content)")

    def put_down(self, tx: Transaction, things: Iterable[object]) -> int:
        """Store the objects, and return their number."""
        count = 0
        for chunk in chunks(things):
            tx.executemany(
                f"INSERT INTO {self.name} (content) VALUES (?)", [(pickle.dumps(each),) for each in chunk]
            )
            count += len(chunk)
        return count

    def take_up(self, tx: Transaction) -> Iterator[Any]:
        for (content,) in tx.execute(f"SELECT content FROM {self.name} ORDER BY place"):
            yield pickle.loads(content)  # noqa: S301  (this process has stored it, and no other can reach the table)

    def empty(self, tx: Transaction) -> None:
        tx.execute(f"DELETE FROM {self.name}")


def make_tables(tx: Transaction, schema: str, statements: Iterable[str]) -> None:
    """Create tables and indexes in the database `schema`, next to the company's tables.

    Each statement has `{schema}` before the name of its table or index.
    """
    for statement in statements:
        tx.execute(statement.format(schema=schema))


ROWS: Final = PickledRows("staged_rows")


def put_down(tx: Transaction, schema: str, rows: Iterable[Row]) -> int:
    """Create the table of an import's rows, store the rows, and return their number."""
    ROWS.make(tx, schema)
    return ROWS.put_down(tx, ((row.line, row.values) for row in rows))


def put_down_before(tx: Transaction) -> Iterator[Row]:
    return (Row(line, values) for line, values in ROWS.take_up(tx))
