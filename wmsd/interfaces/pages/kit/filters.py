"""The filters of a list, as a form asks for them. They follow from the operation's query parameters."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.contract.field_schemas import declared_name, properties_of
from wmsd.interfaces.pages.kit.fields import REFERRING, fields_of
from wmsd.interfaces.pages.kit.resources import REFERRED, Resource
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.moments import of_browser
from wmsd.interfaces.pages.kit.workplace import Workplace

Asks = Literal["text", "choice", "flag", "moment", "code"]
NAMES: Final = {
    "search": "Search",
    "updated_since": "Changed since",
    "since": "Since",
    "active": "Active",
    "record": "Record, such as 1/article/17",
}
NO_FORM_FOR: Final = frozenset({"after"})
"""Filters for programs."""


@dataclass(frozen=True, slots=True)
class Filter:
    name: str
    """In the address."""
    declared: str
    """Its name for people, in English."""
    asks: Asks
    parameter: str
    """Of the operation."""
    choices: tuple[str, ...] = ()
    most: int | None = None
    """The most characters that it takes."""

    @property
    def text(self) -> str:
        """Its name for people."""
        return _(self.declared)


def filters_of(resource: Resource) -> Sequence[Filter]:
    query = resource.listing.query
    assert query is not None
    return _filters(query, resource.model)


@cache
def _filters(query: type[BaseModel], model: type[BaseModel]) -> Sequence[Filter]:
    schemas = properties_of(query)
    names = query.filter_names()  # type: ignore[attr-defined]  # each query of a list is a Query
    return [found for name in names if (found := _filter(model, name, schemas[name]))]


def _filter(model: type[BaseModel], name: str, schema: Mapping[str, object]) -> Filter | None:
    if name in REFERRED:
        return Filter(REFERRING[name].name, declared_name(name), "code", name)
    if name in NO_FORM_FOR or name.endswith("_id"):
        return None
    text = NAMES.get(name) or declared_name(name)
    shown = fields_of(model).get(name)
    choices = tuple(schema.get("enum", ())) or (shown.choices if shown else ())  # type: ignore[arg-type]
    if choices:
        return Filter(name, text, "choice", name, choices)
    if schema.get("type") == "boolean":
        return Filter(name, text, "flag", name)
    if schema.get("format") == "date-time":
        return Filter(name, text, "moment", name)
    return Filter(name, text, "text", name, most=schema.get("maxLength"))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Sent:
    """What the address asks for: the query of the operation, and a sentence for each filter that is wrong."""

    query: dict[str, str]
    errors: dict[str, list[str]]


async def read(workplace: Workplace, resource: Resource, given: Mapping[str, str]) -> Sent:
    """A code that a person typed becomes the id that the operation asks for."""
    sent = Sent({}, {})
    query = resource.listing.query
    assert query is not None
    for name in query.model_fields:
        if given.get(name):
            sent.query[name] = given[name]
    for each in filters_of(resource):
        value = given.get(each.name, "").strip()
        if each.asks == "moment" and value:
            sent.query[each.parameter] = of_browser(value)
        if each.asks == "code" and value:
            found = await workplace.id_of(REFERRED[each.parameter], value)
            if found is None:
                sent.errors[each.name] = [_("%(code)s is the code of none") % {"code": value}]
            else:
                sent.query[each.parameter] = str(found)
    return sent
