"""Codes of documents, such as `SO-000001`."""

from typing import Final

from wmsd.db.engine.transaction import Transaction

ADVANCE: Final = """
    INSERT INTO series (name, last) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET last = last + 1
    RETURNING last
"""


def next_code(tx: Transaction, series: str, taken: str) -> str:
    """Return the next code of the series. Codes that are already in use are skipped, because users may have
    entered them themselves.

    `taken` is a SELECT whose only parameter is a code. It returns a row if a record has that code. The number is
    taken from the series in the transaction that writes the record. Thus a refused request leaves no gap, and no
    number is used twice.
    """
    while True:
        code = f"{series}-{tx.value(ADVANCE, (series,)):06d}"
        if tx.value(taken, (code,)) is None:
            return code
