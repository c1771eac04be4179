"""Refreshes the statistics of a file, which SQLite uses to plan its queries.

wmsd creates statistics only for large tables, because outdated statistics of a small table do harm. If they say
that a table has three rows, SQLite scans the table instead of using an index. It does so even after the table has
grown to thousands of rows. Without statistics, SQLite expects many rows.
"""

from typing import Final

from wmsd.db.engine.transaction import Transaction

LARGE_TABLE_ROWS: Final = 1_000
SAMPLED_ROWS: Final = 1_000
WHAT_IT_WOULD_RUN: Final = "PRAGMA optimize = 0x10003"
"""The statement that lists the ANALYZE statements that SQLite recommends, without running them. SQLite recommends
them for tables without statistics, and for tables that have grown or shrunk tenfold since the last ANALYZE.

The bits are: analyze (0x2), only list the statements (0x1), and include tables that this connection has not read
yet (0x10000).
"""
ANALYZE: Final = "ANALYZE "


def refresh_statistics(tx: Transaction) -> None:
    """Create statistics for the large tables that have none, or that have grown or shrunk much, from a sample of
    their rows. If there are no such tables, write nothing.
    """
    tx.execute(f"PRAGMA analysis_limit = {SAMPLED_ROWS}")
    for (statement,) in tx.rows(WHAT_IT_WOULD_RUN):
        if _is_large(tx, statement.removeprefix(ANALYZE)):
            tx.execute(statement)


def _is_large(tx: Transaction, quoted_table: str) -> bool:
    counted = f"SELECT count(*) FROM (SELECT 1 FROM {quoted_table} LIMIT {LARGE_TABLE_ROWS})"
    return tx.number(counted) == LARGE_TABLE_ROWS
