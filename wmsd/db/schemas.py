"""Compares the schema of a file with what migrations make, because a file from outside may have more: a trigger
runs by itself, with every right of the program that writes.
"""

from collections.abc import Iterable
from contextlib import closing
from typing import Final, NamedTuple

from wmsd.base.counts import first_few
from wmsd.db.sqlite import sqlite3
from wmsd.db.transaction import Transaction

READ: Final = "SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 10000"
"""Many times as many as any file has."""


class Part(NamedTuple):
    """A table, an index, a trigger or a view."""

    type: str
    name: str
    table: str
    sql: str | None
    """None for an index that SQLite has made for a table."""


OF_OTHERS: Final = frozenset(
    {
        Part("table", "_litestream_lock", "_litestream_lock", "CREATE TABLE _litestream_lock (id INTEGER)"),
        Part(
            "table",
            "_litestream_seq",
            "_litestream_seq",
            "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
        ),
        Part("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        Part("table", "sqlite_stat4", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
    }
)
"""SQLite makes tables where it has counted rows, and Litestream where it replicates."""


def made_by(statements: Iterable[str]) -> frozenset[Part]:
    """The parts that a new file has after these statements."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        return read(connection)


def read(of: sqlite3.Connection | Transaction) -> frozenset[Part]:
    """Raises sqlite3.Error."""
    return frozenset(Part(*row) for row in of.execute(READ)) - OF_OTHERS


def differences(found: frozenset[Part], expected: frozenset[Part]) -> str:
    """What is foreign, changed or missing, in words; "" where nothing is."""
    return ", ".join(first_few(sorted({f"{part.type} {part.name}" for part in found ^ expected})))
