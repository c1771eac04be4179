"""SQL that renders records as JSON.

The output model is the only place that declares the fields of a record. The SQL expression for the record's JSON
text is derived from the model. Answers, events and exports all use this text.

SQLite renders it without holding Python's lock. For a page of 50 articles of 22 fields this takes 106 us. Reading
rows into dicts and encoding them with the fastest JSON library takes 173 us.
"""

from collections.abc import Iterable, Mapping
from typing import get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wmsd.contract import csv_cells

LAST = ("created_at", "updated_at")


class RecordSql(str):
    """The SQL of a record's JSON text.

    `columns` maps the name of each field to its SQL and its model field. `brief` is the SQL of a shorter JSON
    text, in which each field that can be large has a short form. `embedded` has the names of the fields that
    contain other records, such as the lines of an order.
    """

    columns: Mapping[str, tuple[str, FieldInfo]]
    brief: str
    embedded: frozenset[str]
    _without: dict[frozenset[str], str]
    __slots__ = ("_without", "brief", "columns", "embedded")

    def with_needed(self, fields: frozenset[str]) -> str:
        """Return the SQL of a JSON text without the embedded records that are not in `fields`.

        All other fields stay. They cost little, and leaving them out would create thousands of different
        statements, each of which SQLite has to prepare.
        """
        left_out = self.embedded - fields
        if left_out not in self._without:
            kept = {name: _value(*part) for name, part in self.columns.items() if name not in left_out}
            self._without[left_out] = _object(kept)
        return self._without[left_out]


def record_sql(
    model: type[BaseModel],
    columns: dict[str, str] | None = None,
    fields: Iterable[str] | None = None,
    brief: Mapping[str, str] | None = None,
) -> RecordSql:
    """Return the SQL `json_object(…)` of the model's fields, with `id` first and the timestamps last.

    A field is read from the column with the same name, unless `columns` has other SQL for it. `fields` selects
    fields; None means all. `brief` has the SQL of the short form of each field that can be large, such as its
    number of rows.
    """
    chosen = set(fields) if fields is not None else set(model.model_fields)
    names = sorted((name for name in model.model_fields if name in chosen), key=_place)
    parts = {name: ((columns or {}).get(name, name), model.model_fields[name]) for name in names}
    values = {name: _value(*parts[name]) for name in names}
    record = RecordSql(_object(values))
    record.columns, record.brief = parts, _object({**values, **(brief or {})})
    record.embedded = frozenset(name for name in names if _is_embedded(parts[name][1]))
    record._without = {frozenset(): record}
    return record


def _object(values: Mapping[str, str]) -> str:
    pairs = (f"'{name}', {value}" for name, value in values.items())
    return f"json_object({', '.join(pairs)})"


def check_fields_are_read(body: type[BaseModel], shown: type[BaseModel], *, but: Iterable[str] = ()) -> None:
    """Raise TypeError if a field of `body` is not in `shown`. A client could set such a field, but would never see
    its value. The fields in `but` need not be in `shown`.
    """
    hidden = [name for name in body.model_fields if name not in shown.model_fields and name not in but]
    if hidden:
        raise TypeError(f"{body.__name__} sets fields that {shown.__name__} does not show: {', '.join(hidden)}")


def decimal_sql(column: str) -> str:
    """Return the SQL that turns millionths into the shortest decimal text. NULL stays NULL."""
    whole = f"iif({column} < 0, '-', '') || (abs({column}) / 1000000)"
    fraction = f"substr(1000000 + abs({column}) % 1000000, 2)"
    return f"rtrim(rtrim({whole} || '.' || {fraction}, '0'), '.')"


def _place(name: str) -> int:
    return -1 if name == "id" else 1 + LAST.index(name) if name in LAST else 0


def _is_embedded(field: FieldInfo) -> bool:
    plain = csv_cells.plain_type(field)
    return any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in (plain, *get_args(plain)))


def _value(column: str, field: FieldInfo) -> str:
    plain = csv_cells.plain_type(field)
    if csv_cells.is_number(field):
        # Most values are NULL or whole numbers, which need no text and no parsing.
        whole = f"WHEN {column} % 1000000 = 0 THEN {column} / 1000000"
        return f"CASE WHEN {column} IS NULL THEN NULL {whole} ELSE json({decimal_sql(column)}) END"
    if plain is bool:
        return f"iif({column}, json('true'), json('false'))"
    if get_origin(plain) in (list, dict) or (isinstance(plain, type) and issubclass(plain, BaseModel)):
        return f"json({column})"
    return column
