"""The numbers of documents: `SO-000001`."""

from typing import Final

from wmsd.db.transaction import Transaction

ADVANCE: Final = """
    INSERT INTO series (name, last) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET last = last + 1
"""
LAST: Final = "SELECT last FROM series WHERE name = ?"


def next_code(tx: Transaction, series: str, taken: str) -> str:
    """The next code that nobody gave by hand before; `taken` is the SELECT that finds a code.

    Drawn inside the writing transaction: a refused request leaves no gap, and two never get the same.
    """
    while True:
        tx.execute(ADVANCE, (series,))
        code = f"{series}-{tx.value(LAST, (series,)):06d}"
        if tx.value(taken, (code,)) is None:
            return code
