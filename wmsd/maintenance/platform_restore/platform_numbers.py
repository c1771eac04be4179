"""Skips ids in a restored platform.db, so that no id of the lost file is used again."""

from datetime import timedelta
from typing import Final

from wmsd.data_folder.continue_numbers import raise_to
from wmsd.db.engine.transaction import Transaction

LEAST_LEAP: Final = 10_000
TIMES: Final = 10
"""A safety factor for the number of ids to skip. The base is the largest number of rows that any table has
received in a period as long as the age of the backup.
"""
COUNTED: Final = """
    SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' ORDER BY name
"""
MOMENT: Final = "SELECT name FROM pragma_table_info(?) WHERE name IN ('at', 'created_at')"
BUSIEST: Final = """
    SELECT coalesce(max(rows), 0) FROM (
        SELECT count(*) OVER (
            ORDER BY julianday({moment}) RANGE BETWEEN :days PRECEDING AND CURRENT ROW
        ) AS rows FROM {table}
    )
"""
LAST: Final = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)"


def leap_size(tx: Transaction, age: timedelta) -> int:
    """Return how many ids to skip in each table, so that no id of the lost platform.db is used again. `age` is the
    age of the backup.
    """
    days = max(age / timedelta(days=1), 0.0)
    busiest = 0
    for table in _tables(tx):
        for (moment,) in tx.rows(MOMENT, (table,)):
            busiest = max(busiest, tx.value(BUSIEST.format(moment=moment, table=table), {"days": days}))
    return max(LEAST_LEAP, TIMES * busiest)


def leap_platform_ids(tx: Transaction, by: int) -> None:
    """Skip `by` ids in every table with AUTOINCREMENT, because these tables never use an id twice."""
    for table in _tables(tx):
        raise_to(tx, table, tx.value(LAST, (table,)) + by)


def _tables(tx: Transaction) -> list[str]:
    return [name for (name,) in tx.rows(COUNTED)]
