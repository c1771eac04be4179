"""SQLite's statistics of a file, from which it plans its queries.

Only large tables have them. A plan for a table of three rows is a scan, and SQLite would keep to it while the
table grows to thousands; of a table without statistics it expects many rows.
"""

from typing import Final

from wmsd.db.engine.transaction import Transaction

LARGE_TABLE_ROWS: Final = 1_000
SAMPLED_ROWS: Final = 1_000
WHAT_IT_WOULD_RUN: Final = "PRAGMA optimize = 0x10003"
"""Lists (0x1) the ANALYZE statements (0x2) for tables that have none or have changed tenfold, also those that
the connection has not read yet (0x10000).
"""
ANALYZE: Final = "ANALYZE "


def refresh_statistics(tx: Transaction) -> None:
    """Takes samples of the large tables that have grown or shrunk much. Where there are none, writes nothing."""
    tx.execute(f"PRAGMA analysis_limit = {SAMPLED_ROWS}")
    for (statement,) in tx.rows(WHAT_IT_WOULD_RUN):
        if _is_large(tx, statement.removeprefix(ANALYZE)):
            tx.execute(statement)


def _is_large(tx: Transaction, quoted_table: str) -> bool:
    counted = f"SELECT count(*) FROM (SELECT 1 FROM {quoted_table} LIMIT {LARGE_TABLE_ROWS})"
    return tx.number(counted) == LARGE_TABLE_ROWS
