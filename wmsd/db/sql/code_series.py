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

    `taken` is a SELECT that finds a code. The number is drawn inside the writing transaction. Thus a refused
    request leaves no gap, and no code is drawn twice.
    """
    while True:
        code = f"{series}-{tx.value(ADVANCE, (series,)):06d}"
        if tx.value(taken, (code,)) is None:
            return code
