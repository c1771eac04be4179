"""The filters of a list, as a form asks for them. They follow from the operation's query parameters."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from wmsd.contract.field_schemas import declared_name, properties_of
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.fields import REFERRING, fields_of
from wmsd.interfaces.pages.kit.form_fields import FormField
from wmsd.interfaces.pages.kit.forms import id_of_code
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.text.moments import iso_date, of_browser
from wmsd.interfaces.pages.kit.workplace import Workplace

NAMES: Final = {
    "search": "Search",
    "updated_since": "Changed since",
    "since": "Since",
    "active": "Active",
    "record": "Record, such as 1/article/17",
}
NO_FORM_FOR: Final = frozenset({"after"})
"""Filters for programs."""


def query_of(resource: Resource) -> type[BaseModel]:
    """What its list may be asked for."""
    assert resource.listing.query is not None
    return resource.listing.query


def filters_of(resource: Resource) -> Sequence[FormField]:
    return _filters(query_of(resource), resource.model)


@cache
def _filters(query: type[BaseModel], model: type[BaseModel]) -> Sequence[FormField]:
    schemas = properties_of(query)
    names = query.filter_names()  # type: ignore[attr-defined]  # each query of a list is a Query
    return [found for name in names if (found := _filter(model, name, schemas[name]))]


def _filter(model: type[BaseModel], name: str, schema: Mapping[str, Any]) -> FormField | None:
    if name in REFERRED:
        return FormField(REFERRING[name].name, declared_name(name), "code")
    if name in NO_FORM_FOR or name.endswith("_id"):
        return None
    text = NAMES.get(name) or declared_name(name)
    shown = fields_of(model).get(name)
    choices = tuple(schema.get("enum", ())) or (shown.choices if shown else ())
    if choices:
        return FormField(name, text, "choice", choices=choices)
    if schema.get("type") == "boolean":
        return FormField(name, text, "flag")
    if schema.get("format") == "date-time":
        return FormField(name, text, "moment")
    if schema.get("format") == "date":
        return FormField(name, text, "date")
    return FormField(name, text, "text", most=schema.get("maxLength"))


async def read(
    at: Workplace, resource: Resource, given: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """What the address asks for: the query of the operation, and a sentence for each filter that is wrong. A code
    that a person typed becomes the id that the operation asks for.
    """
    errors: dict[str, list[str]] = {}
    sent = {name: given[name] for name in query_of(resource).model_fields if given.get(name)}
    for each in filters_of(resource):
        value = given.get(each.name, "").strip()
        if each.asks == "moment" and value:
            sent[each.name] = of_browser(value)
        try:
            if each.asks == "date" and value:
                sent[each.name] = iso_date(value)
            if each.asks == "code" and value:
                sent[each.parameter] = str(await id_of_code(at, each, value))
        except ValueError as error:
            errors[each.name] = [str(error)]
    return sent, errors
