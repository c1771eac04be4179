"""Deletes data that is kept for a limited number of days."""

from datetime import timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction

FORGOTTEN_AT_ONCE: Final = 5000
A_CLOCK_GONE_WRONG: Final = timedelta(days=1)
BEYOND_ALL: Final = 2**62


def forget_old(tx: Transaction, table: str, identity: str, moment: str, kept: timedelta) -> int:
    """Deletes some of the rows that are older than `kept`, the first ones first; answers how many.

    `identity` and `moment` are the columns with the order and the time of the rows. A row that came after a kept
    row is not deleted, whatever its time is: the clock may have been set back for a while. Times in the future are
    ignored too.
    """
    soon = timestamps.to_text(tx.now + A_CLOCK_GONE_WRONG)
    first_kept = tx.value(
        # The + keeps SQLite from the index of the times: it would sort all that is kept.
        f"SELECT {identity} FROM {table} WHERE +{moment} >= ? AND +{moment} <= ? ORDER BY {identity} LIMIT 1",
        (timestamps.to_text(tx.now - kept), soon),
    )
    old = f"SELECT {identity} FROM {table} WHERE {identity} < ? ORDER BY {identity} LIMIT ?"
    deleted = tx.execute(
        f"DELETE FROM {table} WHERE {identity} IN ({old})", (first_kept or BEYOND_ALL, FORGOTTEN_AT_ONCE)
    )
    return deleted.rowcount
