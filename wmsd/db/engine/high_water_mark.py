"""The high-water mark of a company's file: the position of its last change, and the number of its last event."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction

READ: Final = """
    SELECT value, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) FROM change_sequence
"""
FAR_AHEAD: Final = timedelta(hours=1)
"""How far in the future the time of a file's last change may be. If the difference is larger, the clock was wrong
at the change or is wrong now.
"""


class HighWaterMark(NamedTuple):
    last_change: int
    last_event: int


def read_mark(of: sqlite3.Connection | Transaction) -> HighWaterMark:
    """Return the high-water mark of the file. Raise sqlite3.Error if the file cannot be read."""
    [row] = of.execute(READ)
    return HighWaterMark(*row)


def ahead(marks: Mapping[int, HighWaterMark], now: datetime) -> dict[int, str]:
    """Find the companies whose last change is far in the future. Return the time of this change by company id."""
    latest = timestamps.microseconds(now + FAR_AHEAD)
    late = {company: mark.last_change for company, mark in marks.items() if mark.last_change > latest}
    return {company: timestamps.from_microseconds(change) for company, change in late.items()}
