"""Rows of a company's file by column name, as the floors read and write them."""

from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]
"""A row: its values by column name, in the order of the columns."""
Statement = tuple[str, list[Any]]
"""An SQL statement, and the parameters of each row for which it is run."""


def records(source: Any, sql: str, parameters: Any = ()) -> list[Record]:
    found = source.execute(sql, parameters)
    names = [name for name, *_ in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def by(column: str, found: Iterable[Record]) -> dict[Any, list[Record]]:
    """Return the records grouped by their value in the column."""
    groups: dict[Any, list[Record]] = {}
    for record in found:
        groups.setdefault(record[column], []).append(record)
    return groups


def insert(table: str, rows: list[Record]) -> Statement:
    """Return the statement that inserts the rows.

    There must be at least one row, and all must have the same columns.
    """
    names = rows[0].keys()
    sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    return sql, [tuple(row.values()) for row in rows]
