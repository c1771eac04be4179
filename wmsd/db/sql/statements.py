"""INSERT and UPDATE statements for the fields of a model, and the form in which values are stored."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction


def insert_sql(table: str, columns: Iterable[str]) -> str:
    names = list(columns)
    values = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})"


def update_sql(table: str, columns: Iterable[str]) -> str:
    return f"UPDATE {table} SET {', '.join(f'{name} = :{name}' for name in columns)} WHERE id = :id"


def insert_row(tx: Transaction, table: str, columns: Mapping[str, object]) -> int:
    """Insert a row with the current time, and return its id."""
    row = {**columns, "created_at": tx.timestamp, "updated_at": tx.timestamp}
    return tx.insert(insert_sql(table, row), row)


def update_row(tx: Transaction, table: str, row_id: int, columns: Mapping[str, object]) -> None:
    """Change columns of a row, and set its `updated_at` to the current time."""
    row = {**columns, "updated_at": tx.timestamp}
    tx.execute(update_sql(table, row), {**row, "id": row_id})


def column_values(values: Mapping[str, Any]) -> dict[str, object]:
    """Return field values as columns store them: lists and objects as JSON text, and booleans as 0 or 1. Other
    values do not change.
    """
    return {name: _stored(value) for name, value in values.items()}


def _stored(value: Any) -> object:
    if isinstance(value, BaseModel):
        return dumps(value.model_dump())
    if isinstance(value, list | dict):
        return dumps(value)
    return int(value) if isinstance(value, bool) else value
