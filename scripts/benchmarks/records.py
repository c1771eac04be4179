"""Rows of a company's file by the names of their columns, as floors read them and write them again."""

from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]
"""A row: values by the names of its table's columns, in their order."""
Statement = tuple[str, list[Any]]
"""An SQL text, and the rows that it runs with."""


def records(source: Any, sql: str, parameters: Any = ()) -> list[Record]:
    found = source.execute(sql, parameters)
    names = [name for name, *_ in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def by(column: str, found: Iterable[Record]) -> dict[Any, list[Record]]:
    """The records by their value in that column."""
    groups: dict[Any, list[Record]] = {}
    for record in found:
        groups.setdefault(record[column], []).append(record)
    return groups


def insert(table: str, rows: list[Record]) -> Statement:
    """`rows`: at least one; all have the same columns."""
    names = rows[0].keys()
    sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    return sql, [tuple(row.values()) for row in rows]
