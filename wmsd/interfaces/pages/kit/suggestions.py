"""What there is to type where a form asks for a code: all that the person may see, where they are not many."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from wmsd.interfaces.pages.kit.fields import REFERRING
from wmsd.interfaces.pages.kit.form_fields import FormField
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.workplace import Workplace

MOST: Final = 99
"""A longer list would make the form heavy, and a part of a list would look like all of it."""
MOST_IN_TEXT: Final = 30
"""Of codes that stand in a sentence below a field of several lines."""
FROM: Final[Mapping[str, tuple[str, str]]] = {
    "operator_code": ("operators", "code"),
    "company_code": ("companies", "code"),
    "company_codes": ("companies", "code"),
    "user": ("users", "email"),
    "packaging_type_code": ("packaging-types", "code"),
    **{REFERRING[field].name: (resource.name, "code") for field, resource in REFERRED.items()},
}
"""The resource that has them and what is typed of each, by the name of the field."""


async def suggestions(at: Workplace, fields: Iterable[FormField]) -> dict[str, Sequence[str]]:
    """By the names of the fields."""
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
