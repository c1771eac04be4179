"""The fields of a record as people see them: their names, and how their values are shown. They follow from
the model that the interfaces show.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Literal

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
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
DOCUMENT_TYPE: Final = "document_type"
DOCUMENT_ID: Final = "document_id"
"""The document of any kind that has caused a record: its kind is in the other field."""
REFERRING: Final = {reference.id_field: reference for reference in REFERENCES}
NAMES: Final[Mapping[str, str]] = {
    "at": "When",
    "auth_type": "Authentication",
    "barcodes": "Further barcodes",
    "company_codes": "Companies",
    "created": "New",
    "created_at": "Created at",
    "due_at": "Due",
    "email": "E-mail address",
    "expires_in_days": "Warning",
    "expires_within": "Expires within, days",
    "external_ref": "External reference",
    "graphql_per_minute": "GraphQL requests a minute",
    "height_mm": "Height, mm",
    "actor": "By",
    "can_be_undone": "Can be taken back",
    "id": "Id",
    "imported_at": "Imported",
    "undone_at": "Taken back",
    "undone_by": "Taken back by",
    "length_mm": "Length, mm",
    "link": "Link to a new password",
    "low": "At or under the minimum",
    "min_stock": "Minimum stock",
    "over_receipt_pct": "Over-receipt, %",
    "packaging_type_id": "Packaging type",
    "operator_code": "Operator",
    "po_item_id": "Item of the order",
    "quota_megabytes": "Quota, MB",
    "requests_per_minute": "Requests a minute",
    "signed_in": "Made by signing in",
    "tax_id": "Tax number",
    "track_lot": "Tracked by lot",
    "track_serial": "Tracked by serial",
    "transport_ecc": "Transport",
    "um3pl_factor": "Units in a 3PL unit",
    "unit_3pl": "3PL unit",
    "updated_at": "Changed",
    "upload_megabytes": "Largest uploaded file, MB",
    "returns_need_write": "Returns need the right returns:write",
    "url": "Address",
    "waiting_abilities": "Rights that wait",
    "waiting_company_codes": "Companies that wait",
    "waiting_role": "Role that waits",
    "weight_kg": "Weight, kg",
    "width_mm": "Width, mm",
}
"""Names that do not follow from the field's own."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: Kind
    of: tuple["Field", ...] = ()
    """The fields of what it holds."""
    choices: tuple[str, ...] = ()
    """The only values that it has."""

    @property
    def text(self) -> str:
        """Its name for people."""
        return name_of(self.name)


@cache
def fields_of(model: type[BaseModel]) -> Mapping[str, Field]:
    schema = model.model_json_schema(mode="serialization")
    fields = {field.name: field for field in _fields(schema, schema.get("$defs", {}))}
    if DOCUMENT_TYPE in fields:
        fields[DOCUMENT_ID] = Field(DOCUMENT_ID, "document")
    return fields


def name_of(field: str) -> str:
    """The name for people of a field, in the language of the page."""
    return _(declared_name(field))


def declared_name(field: str) -> str:
    """The same in English."""
    return NAMES.get(field) or field.removesuffix("_id").replace("_", " ").capitalize()


@cache
def properties_of(model: type[BaseModel]) -> Mapping[str, Mapping[str, Any]]:
    """The JSON schema of each field, without null and without references to others."""
    schema = model.model_json_schema(mode="serialization")
    return dict(_properties(schema, schema.get("$defs", {})))


def _properties(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    return ((name, _plain(each, parts)) for name, each in schema.get("properties", {}).items())


def _fields(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterable[Field]:
    return [_field(name, each, parts) for name, each in _properties(schema, parts)]


def _field(name: str, schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Field:
    choices = tuple(schema.get("enum", ()))
    if name in REFERRING:
        return Field(name, "reference")
    of_each = schema.get("additionalProperties")
    if isinstance(of_each, dict) and "after" in _plain(of_each, parts).get("properties", {}):
        return Field(name, "changes")
    if name in BY_NAME:
        return Field(name, BY_NAME[name], choices=choices)
    if schema.get("type") == "array":
        of = tuple(_fields(_plain(schema.get("items", {}), parts), parts))
        return Field(name, "table" if of else "list", of)
    kind = BY_FORMAT.get(schema.get("format", "")) or BY_TYPE.get(schema.get("type", ""), "text")
    return Field(name, kind, tuple(_fields(schema, parts)) if kind == "facts" else (), choices)


def _plain(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema without null, and without references to others."""
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return _plain({**option, **_without(schema, "anyOf")}, parts)
    if "$ref" in schema:
        referred = parts[schema["$ref"].rpartition("/")[2]]
        return _plain({**referred, **_without(schema, "$ref")}, parts)
    return schema


def _without(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}
