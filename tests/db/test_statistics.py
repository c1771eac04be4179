"""Tests of statistics: SQLite uses the statistics of large tables to plan queries, and expects many rows in any
other table.
"""

from functools import partial

from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statistics import LARGE_TABLE_ROWS, refresh_statistics

PARTNERS = """
    WITH RECURSIVE numbers (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
    INSERT INTO partners (id, code, name, type, active, created_at, updated_at)
    SELECT n, n, 'P', 'CLIENT', 1, '2026', '2026' FROM numbers
"""


def fill(tx: Transaction, first: int, last: int) -> None:
    tx.execute(PARTNERS, (first, last))


def expected_rows(tx: Transaction) -> dict[str, int]:
    """Return the tables that have statistics, with the expected number of rows."""
    if tx.row("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'") is None:
        return {}
    return dict(tx.rows("SELECT tbl, max(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl"))


async def test_a_small_table_has_no_statistics(database: Database) -> None:
    await database.write(partial(fill, first=1, last=LARGE_TABLE_ROWS - 1))
    await database.write(refresh_statistics)
    assert await database.read(expected_rows) == {}


async def test_a_large_table_has_statistics_and_has_them_anew_when_it_has_grown(database: Database) -> None:
    await database.write(partial(fill, first=1, last=LARGE_TABLE_ROWS))
    await database.write(refresh_statistics)
    assert await database.read(expected_rows) == {"partners": LARGE_TABLE_ROWS}
    await database.write(partial(fill, first=LARGE_TABLE_ROWS + 1, last=20 * LARGE_TABLE_ROWS))
    await database.write(refresh_statistics)
    (rows,) = (await database.read(expected_rows)).values()
    assert rows > 10 * LARGE_TABLE_ROWS


async def test_statistics_of_a_file_that_has_not_grown_are_not_written_again(database: Database) -> None:
    await database.write(partial(fill, first=1, last=LARGE_TABLE_ROWS))
    await database.write(refresh_statistics)
    before = await database.read(lambda tx: tx.value("PRAGMA data_version"))
    await database.write(refresh_statistics)
    assert await database.read(lambda tx: tx.value("PRAGMA data_version")) == before
