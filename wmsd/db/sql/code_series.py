"""Codes of documents, such as `SO-000001`."""

from typing import Final

from wmsd.db.engine.transaction import Transaction

ADVANCE: Final = """
    INSERT INTO series (name, last) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET last = last + 1
    RETURNING last
"""


def next_code(tx: Transaction, series: str, taken: str) -> str:
    """Return the next code of the series. Skip codes that are in use, because users may have entered them.

    `taken` is a SELECT with a code as its only parameter. It returns a row if a record has the code. Call this in
    the transaction that creates the record: if the transaction fails, its number is free again, so there is no
    gap.
    """
    while True:
        code = f"{series}-{tx.value(ADVANCE, (series,)):06d}"
        if tx.value(taken, (code,)) is None:
            return code
