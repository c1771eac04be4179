"""The values of records as HTML, built by functions, because macros of templates take ten times as long.

The function for a field is chosen once for all records. Every text from outside passes through `escape`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from html import escape as escape_text
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from wmsd.contract.access import EVERYTHING
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.addresses import of_part
from wmsd.interfaces.pages.kit.fields import DOCUMENT_ID, DOCUMENT_TYPE, REFERRING, Field, name_of
from wmsd.interfaces.pages.kit.quantities import (
    DASH,
    NOTHING,
    QUANTITIES,
    WithUnit,
    in_own_unit,
    in_units,
    number_html,
)
from wmsd.interfaces.pages.kit.references import Referred
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.stock.part_actions import get_lot

CODED: Final = frozenset({"disposition", "type"})
"""Fields whose codes are shown as words. Lists of changes show them as words too."""
A_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
"""A pattern for moments in the format of the API."""
FIGURES: Final = ("number", "integer", "table")
PARTS_NAMED: Final = {"lot_number": "lot_number", "serials": "serial", "serial_data": "serial"}
"""The fields of lines that contain lots or serials. The value is the field that `of_part` needs for the address.
"""
Show = Callable[[Any], str]
"""A function that returns the HTML of a value. It is never called with None or an empty list."""


def value_html(field: Field, value: Any, referred: Referred, at: Workplace) -> Markup:
    """Return the HTML of the value of a field."""
    return Markup(_or_dash(value, _show(field, referred, at)))  # noqa: S704 -- its parts are escaped


def cell_class(field: Field) -> Markup:
    """Return the class attribute of a cell with numbers or changes. For other cells, return an empty text."""
    if field.kind == "changes":
        return Markup(' class="changes"')
    return Markup(' class="num"' if field.kind in FIGURES else "")  # noqa: S704 -- a constant


def rows(
    resource: Resource,
    fields: Iterable[Field],
    records: Iterable[Mapping[str, Any]],
    referred: Referred,
    at: Workplace,
    has_ticks: bool = False,
) -> Markup:
    """Return the rows of a list. If `has_ticks` is True, each row has a checkbox for the form `bulk`.

    The key of a record links to the page of the record. If there is no such page, the key links to another list
    that shows only entries about the record. A quantity of an article has the article's unit. On a phone, the
    cells of a row are below each other, with headings.
    """
    if resource.one is not None:
        begin = f"{at.address}/{resource.name}/"
        return _body(
            fields,
            records,
            referred,
            at,
            resource.key,
            lambda record: f"{begin}{record['id']}",
            tick=partial(_tick, resource) if has_ticks else None,
        )
    if resource.leads_to is not None:
        other, names = resource.leads_to
        begin = f"{at.address}/{other}?"
        narrow = partial(_narrowed, names=names, referred=referred)
        return _body(fields, records, referred, at, resource.key, lambda record: f"{begin}{narrow(record)}")
    return _body(fields, records, referred, at)


def _narrowed(record: Mapping[str, Any], names: Iterable[str], referred: Referred) -> str:
    """Return the query for a list that shows only entries about this record. `names` are the fields of
    the record by which the list is filtered.

    If a field refers to a record in `referred`, the query has the code of that record instead of the id.
    """
    sent = {}
    for name in names:
        found = referred.get((name, record[name]))
        if found is None:
            sent[name] = record[name]
        else:
            sent[REFERRING[name].name] = found["code"]
    return escape(urlencode(sent))


def lines(
    fields: Iterable[Field], records: Iterable[Mapping[str, Any]], referred: Referred, at: Workplace
) -> Markup:
    """Return the rows of a table, such as an order's lines. Keys have no links, and quantities have units."""
    return _body(fields, records, referred, at, with_unit=in_units)


LeadsTo = Callable[[Mapping[str, Any]], str]
"""A function that returns the address to which the key of a record links. The address is escaped."""


class Column(NamedTuple):
    name: str
    begin: str
    show: Show
    leads_to: LeadsTo | None
    of_record: Callable[[Mapping[str, Any]], str] | None
    """A function that returns the field's HTML for the whole record. None if the field's value is enough."""


def _body(
    fields: Iterable[Field],
    records: Iterable[Mapping[str, Any]],
    referred: Referred,
    at: Workplace,
    key: str = "",
    leads_to: LeadsTo | None = None,
    tick: Callable[[Mapping[str, Any]], str] | None = None,
    with_unit: WithUnit = in_own_unit,
) -> Markup:
    columns = [
        Column(
            each.name,
            f"<td{cell_class(each)}{_heading(each, place, key)}>",
            _show(each, referred, at),
            leads_to if each.name == key else None,
            _of_record(each, referred, at, with_unit),
        )
        for place, each in enumerate(fields)
    ]
    return Markup("\n".join(_row(columns, record, tick) for record in records))  # noqa: S704 -- its parts are escaped


def _tick(resource: Resource, record: Mapping[str, Any]) -> str:
    name = escape(resource.name_of(record))
    return (
        f'<td class="tick"><input type="checkbox" name="record.{record["id"]}" value="{name}" form="bulk" '
        f'aria-label="{name}"></td>'
    )


def _row(
    columns: Iterable[Column],
    record: Mapping[str, Any],
    tick: Callable[[Mapping[str, Any]], str] | None,
) -> str:
    cells = [] if tick is None else [tick(record)]
    for name, begin, show, leads_to, of_record in columns:
        text = _or_dash(record.get(name), show) if of_record is None else of_record(record)
        if leads_to is not None:
            text = f'<a href="{leads_to(record)}">{text}</a>'
        cells.append(f"{begin}{text}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _or_dash(value: Any, show: Show) -> str:
    return NOTHING if value is None or value == [] else show(value)


def _heading(field: Field, place: int, key: str) -> str:
    """Return the HTML attribute with the heading of a cell.

    Return "" for the first cell of a row if it is the key, a reference or a status.
    """
    says_itself = place == 0 and (field.name == key or field.kind in ("reference", "status"))
    return "" if says_itself else f' data-heading="{escape(field.text)}"'


def escape(value: Any) -> str:
    """Return the value as escaped text. The text of a `Markup` is escaped too."""
    return escape_text(str(value))


def _show(field: Field, referred: Referred, at: Workplace) -> Show:
    if field.kind == "reference":
        return _referring(field, referred, at)
    if field.kind == "facts":
        return _facts(field, referred, at)
    if field.choices and field.kind == "text":
        return _word
    return BY_KIND.get(field.kind, escape)


def _moment(value: str) -> str:
    return f'<time datetime="{escape(value)}">{escape(words.moment(value))}</time>'


def _status(value: str) -> str:
    code = escape(value)
    return f'<span class="chip {code}" title="{code}">{escape(words.status(value))}</span>'


def _days_left(days: int) -> str:
    """Return a highlighted text that says in how many days something expires."""
    return f'<b class="{"warn" if days > 0 else "bad"}">{escape(words.days_left(days))}</b>'


def _list(value: Iterable[Any]) -> str:
    return escape(", ".join(map(str, value)))


def _abilities(value: Sequence[str]) -> str:
    return escape(_("everything")) if EVERYTHING in value else _list(value)


def _sentence(value: str) -> str:
    return escape(translate_error(value))


def _sentences(value: Iterable[str]) -> str:
    return "<br>".join(map(_sentence, value))


def _changes(value: Mapping[str, Mapping[str, Any]]) -> str:
    return "<br>".join(
        f"{escape(name if '.' in name else name_of(name))}: "
        f"{_of_field(name, change['before'])} → {_of_field(name, change['after'])}"
        for name, change in value.items()
    )


def _plain(value: Any) -> str:
    if value is None or value == []:
        return DASH
    if isinstance(value, bool):
        return words.yes_or_no(value)
    if isinstance(value, dict):
        return _parts(value)
    if isinstance(value, list) and isinstance(value[0], dict):
        return "; ".join(map(_plain, value))
    if isinstance(value, str) and A_MOMENT.fullmatch(value):
        return escape(words.moment(value))
    return _list(value) if isinstance(value, list) else escape(value)


def _parts(value: Mapping[str, Any]) -> str:
    """Return an address or a line of a document as one line of text."""
    return ", ".join(
        f"{escape(name_of(name))} {_of_field(name, each)}" for name, each in value.items() if each is not None
    )


def _of_field(name: str, value: Any) -> str:
    return _word(value) if name in CODED and value is not None else _plain(value)


def _referring(field: Field, referred: Referred, at: Workplace) -> Show:
    if field.name not in REFERRED:
        return escape
    address = f"{at.address}/{REFERRED[field.name].name}/"

    def show(value: Any) -> str:
        found = referred.get((field.name, value))
        if found is None:
            return escape(value)
        name = f' <span class="soft">{escape(found["name"])}</span>' if "name" in found else ""
        return f'<a href="{escape(address)}{escape(value)}">{escape(found["code"])}</a>{name}'

    return cache(show)


def _part(field: Field, at: Workplace) -> Callable[[Mapping[str, Any]], str] | None:
    """Return a function that shows the lots or serials of a line as links to their pages.

    Return None for other fields, and if the person may not read stock.
    """
    named = PARTS_NAMED.get(field.name)
    if named is None or not at.may(get_lot):
        return None

    def show(record: Mapping[str, Any]) -> str:
        value, article_id = record.get(field.name), record.get("article_id")
        if not value:
            return NOTHING
        numbers = value if isinstance(value, list) else [value]
        if article_id is None:
            return _list(numbers)
        return ", ".join(
            f'<a href="{escape(of_part(at.address, article_id, named, each))}">{escape(each)}</a>'
            for each in numbers
        )

    return show


def _of_record(
    field: Field, referred: Referred, at: Workplace, with_unit: WithUnit
) -> Callable[[Mapping[str, Any]], str] | None:
    """Return a function that creates this field's HTML from the whole record, or None if the value is enough."""
    if field.kind == "document":
        return _document(referred)
    if field.name in QUANTITIES:
        return partial(with_unit, field.name, referred)
    return _part(field, at)


def _document(referred: Referred) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that shows the document that caused a record.

    If a document has no page, or the person may not read it, the function shows the kind and the id.
    """

    def show(record: Mapping[str, Any]) -> str:
        kind, document_id = record[DOCUMENT_TYPE], record[DOCUMENT_ID]
        if kind is None:
            return NOTHING
        found = referred.get((kind, document_id))
        if found is None:
            return f"{escape(name_of(kind))} {escape(document_id)}"
        return f'<a href="{escape(found["address"])}">{escape(found["text"])}</a>'

    return show


def _facts(field: Field, referred: Referred, at: Workplace) -> Show:
    if not field.of:
        return _as_json
    parts = [(each.name, each.text, _show(each, referred, at)) for each in field.of]

    def show(value: Mapping[str, Any]) -> str:
        return "<br>".join(
            f"{escape(text)}: {_or_dash(value[name], show_part)}"
            for name, text, show_part in parts
            if value.get(name) is not None
        )

    return show


def _as_json(value: Mapping[str, Any]) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False, default=float))}</pre>"


def _word(value: str) -> str:
    return escape(words.status(value))


BY_KIND: Final[Mapping[str, Callable[[Any], str]]] = {
    "number": number_html,
    "flag": words.yes_or_no,
    "moment": _moment,
    "date": words.date,
    "status": _status,
    "days_left": _days_left,
    "list": _list,
    "abilities": _abilities,
    "sentence": _sentence,
    "sentences": _sentences,
    "table": lambda value: str(value if isinstance(value, int) else len(value)),  # for a list, only its length
    "changes": _changes,
}
