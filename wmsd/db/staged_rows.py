"""Rows put down as they were read, to be read again in their order (see `staging.py`)."""

import pickle
from collections.abc import Iterable, Iterator
from typing import Final

from wmsd.base.importing import Row, chunks
from wmsd.db.transaction import Transaction

TABLE: Final = "CREATE TABLE {schema}.staged_rows (line INTEGER PRIMARY KEY, content)"
ADD: Final = "INSERT INTO staged_rows (line, content) VALUES (?, ?)"
ALL: Final = "SELECT line, content FROM staged_rows ORDER BY line"


def put_down(tx: Transaction, schema: str, rows: Iterable[Row]) -> int:
    """How many there are."""
    tx.execute(TABLE.format(schema=schema))
    count = 0
    for chunk in chunks(rows):
        tx.executemany(ADD, [(row.line, pickle.dumps(row.values)) for row in chunk])
        count += len(chunk)
    return count


def put_down_before(tx: Transaction) -> Iterator[Row]:
    for line, content in tx.execute(ALL):
        yield Row(line, pickle.loads(content))  # noqa: S301  (of this process: nobody else can reach the table)
