"""Deletes data that is stored for a limited number of days."""

from datetime import timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction

FORGOTTEN_AT_ONCE: Final = 5000
A_CLOCK_GONE_WRONG: Final = timedelta(days=1)
BEYOND_ALL: Final = 2**62


def forget_old(tx: Transaction, table: str, identity: str, moment: str, kept: timedelta) -> int:
    """Delete rows that are older than the period `kept`, and return how many were deleted. Each call deletes a
    limited number of rows, from the beginning of the table on.

    `identity` is the column by which the rows are ordered, and `moment` is the column with their time. The
    deletion ends at the first row that is not old enough. All rows after it stay, even if their time is older,
    because the clock may have been set back for a while. A row whose time is more than a day in the future does
    not end the deletion.
    """
    soon = timestamps.to_text(tx.now + A_CLOCK_GONE_WRONG)
    first_kept = tx.value(
        # The + keeps SQLite from using the index of the times, with which it would sort all remaining rows.
        f"SELECT {identity} FROM {table} WHERE +{moment} >= ? AND +{moment} <= ? ORDER BY {identity} LIMIT 1",
        (timestamps.to_text(tx.now - kept), soon),
    )
    old = f"SELECT {identity} FROM {table} WHERE {identity} < ? ORDER BY {identity} LIMIT ?"
    deleted = tx.execute(
        f"DELETE FROM {table} WHERE {identity} IN ({old})", (first_kept or BEYOND_ALL, FORGOTTEN_AT_ONCE)
    )
    return deleted.rowcount
