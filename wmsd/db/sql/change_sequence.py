"""The positions of records in the company's change sequence, and the `updated_at` that is derived from them.

A position is a number of microseconds since 1970. `updated_at` is this time, in milliseconds. Each unit of work
begins a new millisecond. Therefore a client that requests the changes after the `as_of` of a list gets every
change exactly once. This is true even if many records share a millisecond, or if the clock is set back.
"""

from collections.abc import Mapping

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import insert_sql, update_sql


def updated_at(change: int) -> str:
    """Return the `updated_at` of a record with the position `change`."""
    return timestamps.from_microseconds(change)


def updated_at_sql(change: str) -> str:
    """Return the SQL that turns a position into `updated_at`. `change` is the SQL of the position. The SQL divides
    only integers, so the result is exact.
    """
    seconds = f"strftime('%Y-%m-%dT%H:%M:%S', ({change}) / 1000000, 'unixepoch')"
    return f"{seconds} || printf('.%03dZ', ({change}) / 1000 % 1000)"


def last_moment(tx: Transaction) -> str:
    """Return the `updated_at` of the last change in the company. Every later change gets a later `updated_at`."""
    return updated_at(tx.last_change())


def change_columns(tx: Transaction) -> dict[str, object]:
    """Take the next position in the change sequence. Return `change_seq` and `updated_at` for a record that is
    written now.
    """
    [change] = tx.next_changes(1)
    return {"change_seq": change, "updated_at": updated_at(change)}


def creation_columns(tx: Transaction) -> dict[str, object]:
    """Take the next position. Return `change_seq`, `updated_at` and `created_at` for a record that is created now.

    `created_at` is the time of the clock. The position, and thus `updated_at`, may be later than the clock.
    """
    return {**change_columns(tx), "created_at": tx.timestamp}


def insert_in_order(tx: Transaction, table: str, columns: Mapping[str, object]) -> int:
    """Insert a row with a new position in the change sequence, and return its id."""
    row = {**columns, **creation_columns(tx)}
    return tx.insert(insert_sql(table, row), row)


def update_in_order(tx: Transaction, table: str, row_id: int, columns: Mapping[str, object]) -> None:
    """Change columns of a row, and give the row a new position in the change sequence."""
    row = {**columns, **change_columns(tx)}
    tx.execute(update_sql(table, row), {**row, "id": row_id})


def each_changed(tx: Transaction, count: int) -> list[tuple[int, str]]:
    """Take the next `count` positions in the change sequence. Return each with its `updated_at`."""
    return [(change, updated_at(change)) for change in tx.next_changes(count)]
