"""The fields of a record for people: the names of the fields, and how their values are displayed.

The fields are derived from the model of the record, which all interfaces use.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.contract.field_schemas import declared_name, plain_schema, property_schemas
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.warehouse.references_by_id import REFERENCES

Kind = Literal[
    "text",
    "integer",
    "number",
    "flag",
    "moment",
    "date",
    "status",
    "reference",
    "list",
    "abilities",
    "facts",
    "table",
    "changes",
    "days_left",
    "sentence",
    "sentences",
    "document",
]
BY_FORMAT: Final[Mapping[str, Kind]] = {"date-time": "moment", "date": "date"}
BY_TYPE: Final[Mapping[str, Kind]] = {
    "integer": "integer",
    "number": "number",
    "boolean": "flag",
    "object": "facts",
}
BY_NAME: Final[Mapping[str, Kind]] = {
    "status": "status",
    "expires_in_days": "days_left",
    "error": "sentence",
    "switched_off_because": "sentence",
    "warnings": "sentences",
    "abilities": "abilities",
    "waiting_abilities": "abilities",
}
RARE: Final = frozenset(
    {"lot_number", "serial", "serials", "serial_data", "counted_at", "booked_quantity", "count_again", "changes"}
)
"""Columns of tables that are empty in most documents."""
DOCUMENT_TYPE: Final = "document_type"
DOCUMENT_ID: Final = "document_id"
"""The field with the id of the document that caused a record. The kind of the document is in `document_type`."""
REFERRING: Final = {reference.id_field: reference for reference in REFERENCES}


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: Kind
    of: tuple["Field", ...] = ()
    """For a field that is an object or a list of objects: the fields of the object."""
    choices: tuple[str, ...] = ()
    """The only values that the field can have. If it is empty, the field can have any value."""

    @property
    def text(self) -> str:
        """The name of the field for people."""
        return name_of(self.name)


@cache
def fields_of(model: type[BaseModel]) -> Mapping[str, Field]:
    schema = model.model_json_schema(mode="serialization")
    fields = {field.name: field for field in _fields(schema, schema.get("$defs", {}))}
    if DOCUMENT_TYPE in fields:
        fields[DOCUMENT_ID] = Field(DOCUMENT_ID, "document")
    return fields


def with_content(columns: Iterable[Field], lines: Sequence[Mapping[str, Any]]) -> list[Field]:
    """Return the columns that a table shows. A column in RARE is left out if it is empty in every line."""
    return [each for each in columns if each.name not in RARE or any(line.get(each.name) for line in lines)]


def name_of(field: str) -> str:
    """Return the name of a field for people, in the language of the page."""
    return _(declared_name(field))


def _fields(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterable[Field]:
    return [_field(name, each, parts) for name, each in property_schemas(schema, parts)]


def _field(name: str, schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Field:
    choices = tuple(schema.get("enum", ()))
    if name in REFERRING:
        return Field(name, "reference")
    of_each = schema.get("additionalProperties")
    if isinstance(of_each, dict) and "after" in plain_schema(of_each, parts).get("properties", {}):
        return Field(name, "changes")
    if name in BY_NAME:
        return Field(name, BY_NAME[name], choices=choices)
    if schema.get("type") == "array":
        of = tuple(_fields(plain_schema(schema.get("items", {}), parts), parts))
        return Field(name, "table" if of else "list", of)
    kind = BY_FORMAT.get(schema.get("format", "")) or BY_TYPE.get(schema.get("type", ""), "text")
    return Field(name, kind, tuple(_fields(schema, parts)) if kind == "facts" else (), choices)
