"""The English display names of fields, and the JSON schema of each field of a model."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

FIELD_NAMES: Final[Mapping[str, str]] = {
    "article_search": "Search words for articles",
    "arrived_at": "Entered at",
    "at": "When",
    "at_once": "Refuse the previous token now",
    "ahead_until": "Latest time of these changes",
    "auth_type": "Authentication",
    "barcodes": "More barcodes",
    "booked_quantity": "Booked difference",
    "by": "Change in quantity",
    "companies_ahead": "Companies with changes in the future",
    "company_codes": "Companies",
    "created": "New",
    "created_at": "Created at",
    "doubted_since": "Clock in doubt since",
    "due_at": "Next attempt",
    "email": "E-mail address",
    "entity_id": "Record id",
    "everything": "All goods",
    "expected_from": "Expected date, from",
    "expected_to": "Expected date, to",
    "expires_in_days": "Warning",
    "expires_within": "Expires within, days",
    "external_ref": "External reference",
    "graphql_per_minute": "GraphQL requests per minute",
    "height_mm": "Height, mm",
    "actor": "By",
    "can_be_undone": "Can be undone",
    "id": "Id",
    "imported_at": "Imported",
    "seconds_since_tick": "Seconds since the last run",
    "undone_at": "Undone at",
    "undone_by": "Undone by",
    "is_blind": "Blind count",
    "ledger_quantity": "Stock when counted",
    "length_mm": "Length, mm",
    "link": "Password link",
    "low": "Low stock",
    "min_stock": "Minimum stock",
    "over_receipt_pct": "Over-receipt, %",
    "packaging_type_id": "Packaging type",
    "occurred_at": "Date of movement",
    "operator_code": "Operator",
    "partner_code": "Partner",
    "po_item_id": "Order item",
    "previous_token_until": "Previous token expires at",
    "quantity_um3pl": "Quantity in receiving units",
    "quota_megabytes": "Storage quota, MB",
    "requested_from": "Requested date, from",
    "requested_to": "Requested date, to",
    "requests_per_minute": "Requests per minute",
    "selected_items": "Lines received",
    "serial_data": "Serials",
    "signed_in": "Created by signing in",
    "tax_id": "Tax number",
    "to": "New quantity",
    "track_lot": "Tracked by lot",
    "track_serial": "Tracked by serial",
    "transport_ecc": "Transport",
    "um3pl_factor": "Units per receiving unit",
    "unit_3pl": "Receiving unit",
    "updated_at": "Changed",
    "upload_megabytes": "Largest uploaded file, MB",
    "returns_need_write": "A token needs returns:write to create or change returns",
    "url": "Address",
    "waiting_abilities": "Pending abilities",
    "waiting_company_codes": "Pending companies",
    "waiting_role": "Pending role",
    "weight_kg": "Weight, kg",
    "width_mm": "Width, mm",
}
"""Display names that cannot be derived from the field's name."""


def declared_name(field: str) -> str:
    """Return the English display name of the field, such as `Partner` for `partner_id`."""
    return FIELD_NAMES.get(field) or field.removesuffix("_id").replace("_", " ").capitalize()


@cache
def properties_of(model: type[BaseModel]) -> Mapping[str, Mapping[str, Any]]:
    """Return the JSON schema of each field, without null and without references to other schemas."""
    schema = model.model_json_schema(mode="serialization")
    return dict(property_schemas(schema, schema.get("$defs", {})))


def property_schemas(
    schema: Mapping[str, Any], parts: Mapping[str, Any]
) -> Iterable[tuple[str, Mapping[str, Any]]]:
    return ((name, plain_schema(each, parts)) for name, each in schema.get("properties", {}).items())


def plain_schema(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema without null and without references to other schemas.

    `parts` maps the names of the referenced schemas to these schemas.
    """
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            return plain_schema({**option, **_without(schema, "anyOf")}, parts)
    if "$ref" in schema:
        referred = parts[schema["$ref"].rpartition("/")[2]]
        return plain_schema({**referred, **_without(schema, "$ref")}, parts)
    return schema


def _without(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}
