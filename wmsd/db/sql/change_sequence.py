"""The moment at which a record changed: its place in the company's change sequence, and what it shows of it.

A place is in microseconds, and a record shows its millisecond as `updated_at`. Each unit of work begins a new
millisecond. So whoever asks for what changed after the `as_of` of a list gets all of it, and nothing again,
however many records share a millisecond and whatever the clock does.
"""

from collections.abc import Mapping

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import insert_sql, update_sql


def updated_at(change: int) -> str:
    """What a record with this place shows."""
    return timestamps.from_microseconds(change)


def updated_at_sql(change: str) -> str:
    """The SQL for `updated_at` of an expression. Exact, as a division of floats would not be."""
    seconds = f"strftime('%Y-%m-%dT%H:%M:%S', ({change}) / 1000000, 'unixepoch')"
    return f"{seconds} || printf('.%03dZ', ({change}) / 1000 % 1000)"


def last_moment(tx: Transaction) -> str:
    """What the last change shows: later ones show a later moment."""
    return updated_at(tx.last_change())


def change_columns(tx: Transaction) -> dict[str, object]:
    """The columns of a record that changes now."""
    [change] = tx.next_changes(1)
    return {"change_seq": change, "updated_at": updated_at(change)}


def creation_columns(tx: Transaction) -> dict[str, object]:
    """The columns of a record that is created now, by the clock. Only its place may be ahead of the clock."""
    return {**change_columns(tx), "created_at": tx.timestamp}


def insert_in_order(tx: Transaction, table: str, columns: Mapping[str, object]) -> int:
    """Inserts a row of records that have a place, and returns its id."""
    row = {**columns, **creation_columns(tx)}
    return tx.insert(insert_sql(table, row), row)


def update_in_order(tx: Transaction, table: str, row_id: int, columns: Mapping[str, object]) -> None:
    """Changes columns of a row, which gets a new place."""
    row = {**columns, **change_columns(tx)}
    tx.execute(update_sql(table, row), {**row, "id": row_id})


def each_changed(tx: Transaction, count: int) -> list[tuple[int, str]]:
    """`change_seq` and `updated_at` of so many records that change now."""
    return [(change, updated_at(change)) for change in tx.next_changes(count)]
