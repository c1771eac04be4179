"""How far a company's file has come: the place of its last change, and the number of its last event."""

from typing import Final, NamedTuple

from wmsd.db.sqlite import sqlite3
from wmsd.db.transaction import Transaction

READ: Final = """
    SELECT value, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) FROM change_sequence
"""


class HighWaterMark(NamedTuple):
    last_change: int
    last_event: int


def read_mark(of: sqlite3.Connection | Transaction) -> HighWaterMark:
    """Raises sqlite3.Error."""
    [row] = of.execute(READ)
    return HighWaterMark(*row)
