"""The filters of a list, as the fields of a form. They are derived from the operation's query parameters."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.contract.field_schemas import declared_name, properties_of
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.fields import REFERRING, fields_of
from wmsd.interfaces.pages.kit.form_fields import FormField
from wmsd.interfaces.pages.kit.forms import id_of_code
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.moments import iso_date, of_browser
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.search.actions import find_ids_by_part
from wmsd.warehouse.search.search_kinds import RECORDS

NAMES: Final = {
    "search": "Search",
    "updated_since": "Changed since",
    "since": "Since",
    "active": "Active",
    "record": "Record: company id/kind/record id, such as 1/article/17",
}
NO_FORM_FOR: Final = frozenset({"after"})
"""Filters for programs only. Forms do not offer them."""


FOUND: Final = {kind.name: kind for kind in RECORDS}
"""The kinds of records that people can find by typing a part of a text. The key is the name of the list of these
records.
"""
OF_STOCK: Final = {"article_code": ("stock", "code")}
MOST_OF_PART: Final = 255


def parts_of(resource: Resource) -> Mapping[str, tuple[str, str]]:
    """Return the filters of a list in which a part of a text is enough. The key is the name of the filter.

    The value says where wmsd searches for the typed text: in which kind of record, and in which field.
    """
    if resource.name == "stock":
        return OF_STOCK
    kind = FOUND.get(resource.name)
    if kind is None or kind.listing is not resource.listing:
        return {}
    filters = query_of(resource).model_fields
    names = {*filters, *(() if "search" in filters else ("name",))} - {"barcode"}
    return {name: (kind.name, name) for name in kind.texts if name in names}


def query_of(resource: Resource) -> type[BaseModel]:
    """Return the model of the query parameters of a list."""
    assert resource.listing.query is not None
    return resource.listing.query


def filters_of(resource: Resource) -> Sequence[FormField]:
    query = query_of(resource)
    declared = _filters(query, resource.model)
    others = [name for name in parts_of(resource) if name not in query.model_fields]
    return [*declared, *(FormField(name, declared_name(name), "text", most=MOST_OF_PART) for name in others)]


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


@dataclass(frozen=True, slots=True)
class Asked:
    """The query for a list, as read from the address of the page.

    `errors` has sentences for each invalid filter. If a person typed parts of texts, `within` has the ids of the
    records that contain all of them. Otherwise it is None. `is_cut` is True if `within` is incomplete. The reason
    is that too many records match, or that the search index is damaged (`is_damaged`).
    """

    query: dict[str, str]
    errors: dict[str, list[str]]
    within: list[int] | None = None
    is_cut: bool = False
    is_damaged: bool = False


async def read(at: Workplace, resource: Resource, given: Mapping[str, str]) -> Asked:
    """Read the filters of a list from the parameters in the address of the page.

    A typed code or name becomes the id that the operation expects. A part of a text becomes the ids of the records
    that contain it.
    """
    errors: dict[str, list[str]] = {}
    by_part = parts_of(resource)
    sent = {
        name: given[name] for name in query_of(resource).model_fields if given.get(name) and name not in by_part
    }
    within, is_cut, is_damaged = None, False, False
    for each in filters_of(resource):
        value = given.get(each.name, "").strip()
        if not value:
            continue
        if each.asks == "moment":
            sent[each.name] = of_browser(value)
        try:
            if each.asks == "date":
                sent[each.name] = iso_date(value)
            if each.asks == "code":
                sent[each.parameter] = str(await _id_meant(at, each, value))
        except ValueError as error:
            errors[each.name] = [str(error)]
        if each.name in by_part:
            found = await find_parts(at, *by_part[each.name], value)
            within = found["ids"] if within is None else sorted({*within} & {*found["ids"]})
            is_cut = is_cut or found["has_more"]
            is_damaged = is_damaged or found["is_damaged"]
    return Asked(sent, errors, within, is_cut, is_damaged)


NOTHING_FOUND: Final[Mapping[str, Any]] = {
    "ids": [],
    "exact": [],
    "has_more": False,
    "is_damaged": False,
}


async def find_parts(at: Workplace, kind: str, field: str, text: str) -> Any:
    if len(text) > MOST_OF_PART:
        return NOTHING_FOUND
    query = {"kind": kind, "field": field, "text": text}
    return await at.need(find_ids_by_part, query=query, is_counted=True)


async def _id_meant(at: Workplace, field: FormField, typed: str) -> int:
    """Return the id of the record that a person means by the text `typed`.

    It is the record with this code, or the only record whose name or code contains the text. Raise ValueError with
    a sentence for people if no record matches, or more than one.
    """
    resource = REFERRED[field.parameter]
    kind = FOUND.get(resource.name)
    if kind is None or not at.may(resource.listing):
        return await id_of_code(at, field, typed)
    record_id = await at.id_of(resource, typed)
    if record_id is not None:
        return record_id
    for name in ("name", "code"):
        if name not in kind.texts:
            continue
        found = await find_parts(at, kind.name, name, typed)
        for ids in (found["exact"], found["ids"]):
            if len(ids) == 1:
                return int(ids[0])
        if found["ids"]:
            several = _("Several records match “%(text)s”. Type more, or choose one from the list.")
            raise ValueError(several % {"text": typed})
    raise ValueError(_("No record matches “%(text)s”. Type a code, or a part of the name.") % {"text": typed})
