"""The suggestions for fields in which people type a code: all codes that the person may see. If there are too many
codes, the field has no suggestions.

If there is only one warehouse or client, a new form already contains its code.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from wmsd.interfaces.pages.kit.fields import REFERRING
from wmsd.interfaces.pages.kit.form_fields import FormField, Typed
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.workplace import Workplace

MOST: Final = 99
"""The maximum number of suggestions. If there are more, the form has none.

A longer list would make the form large, and a part of the list would look complete.
"""
MOST_IN_TEXT: Final = 30
"""The maximum number of codes in a sentence below a field with several lines."""
FROM: Final[Mapping[str, tuple[str, str]]] = {
    "operator_code": ("operators", "code"),
    "company_code": ("companies", "code"),
    "company_codes": ("companies", "code"),
    "user": ("users", "email"),
    "packaging_type_code": ("packaging-types", "code"),
    **{REFERRING[field].name: (resource.name, "code") for field, resource in REFERRED.items()},
}
"""The source of the suggestions for each form field: a resource, and the field of its records that people type."""

FILLED_IN: Final = frozenset({"warehouse", "client"})
"""The fields that a new form fills in if only one record can be chosen."""
ACTIVE: Final = "active"


async def only_choices(at: Workplace, fields: Iterable[FormField]) -> Typed:
    """Return the values of required fields that a new form can fill in, because only one active record can be
    chosen.

    The value of such a field is the code of this record.
    """
    asked = [field for field in fields if field.is_required and field.asks == "code" and field.name in FILLED_IN]
    found = {field.name: await _only(at, FROM[field.name][0]) for field in asked}
    return {name: code for name, code in found.items() if code}


async def _only(at: Workplace, resource_name: str) -> str:
    """Return the code of the only active record that the person may see. Return "" if there is no such record or
    several.
    """
    resource = next((each for each in at.resources if each.name == resource_name), None)
    if resource is None:
        return ""
    answer = await at.ask(resource.listing, query={ACTIVE: "true", "per_page": "2"}, is_counted=True)
    records = answer.body["data"] if answer.is_good else []
    return str(records[0]["code"]) if len(records) == 1 else ""


async def suggestions(at: Workplace, fields: Iterable[FormField]) -> dict[str, Sequence[str]]:
    """Return the suggestions by the names of the fields. Fields without suggestions are left out."""
    found = {
        field.name: await _of(at, *FROM[field.name], MOST_IN_TEXT if field.asks == "lines" else MOST)
        for field in fields
        if field.name in FROM
    }
    return {name: texts for name, texts in found.items() if texts}


async def _of(at: Workplace, resource_name: str, key: str, most: int) -> list[str]:
    resource = next((each for each in at.resources if each.name == resource_name), None)
    if resource is None:
        return []
    answer = await at.ask(resource.listing, query={"per_page": str(most + 1)}, is_counted=True)
    texts = [each[key] for each in answer.body["data"]] if answer.is_good else []
    return sorted(texts) if len(texts) <= most else []
