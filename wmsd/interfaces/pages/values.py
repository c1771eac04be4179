"""How the values of records are shown, as markup. Functions, because a list has hundreds of cells, and macros of a
template take ten times as long. What shows a field is chosen once for all records. Whatever is not written here
passes through `escape`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html import escape as escape_text
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from wmsd.interfaces.pages import words
from wmsd.interfaces.pages.fields import Field, name_of
from wmsd.interfaces.pages.language import told
from wmsd.interfaces.pages.referred import Referred
from wmsd.interfaces.pages.resources import REFERRED, Resource
from wmsd.interfaces.pages.workplace import Workplace

DASH: Final = "\N{EN DASH}"
NOTHING: Final = f'<span class="zero">{DASH}</span>'
ZERO: Final = '<span class="zero">0</span>'
FIGURES: Final = ("number", "integer", "table")
Show = Callable[[Any], str]
"""The markup of a value of a field, which is not nothing."""


def shown(field: Field, value: Any, referred: Referred, at: Workplace) -> Markup:
    """The value of a field."""
    return Markup(_or_dash(value, _show(field, referred, at)))  # noqa: S704 -- its parts are escaped


def is_figure(field: Field) -> Markup:
    """The attribute of a cell that holds a figure, or what was before and after, which may be long."""
    return Markup(_is_figure(field))  # noqa: S704 -- a constant


def rows(
    resource: Resource,
    fields: Iterable[Field],
    records: Iterable[Mapping[str, Any]],
    referred: Referred,
    at: Workplace,
) -> Markup:
    """The rows of a list. The key leads to the record."""
    key = resource.key if resource.one else ""
    return _body(fields, records, referred, at, key, f"{at.address}/{resource.name}/")


def lines(
    fields: Iterable[Field], records: Iterable[Mapping[str, Any]], referred: Referred, at: Workplace
) -> Markup:
    """The rows of a table inside a record, which lead nowhere."""
    return _body(fields, records, referred, at)


class Column(NamedTuple):
    name: str
    begin: str
    show: Show
    leads_to: str
    """The address of the records, where the value leads to its own."""


def _body(
    fields: Iterable[Field],
    records: Iterable[Mapping[str, Any]],
    referred: Referred,
    at: Workplace,
    key: str = "",
    address: str = "",
) -> Markup:
    columns = [
        Column(
            each.name, f"<td{_is_figure(each)}>", _show(each, referred, at), address if each.name == key else ""
        )
        for each in fields
    ]
    return Markup("\n".join(_row(columns, record) for record in records))  # noqa: S704 -- its parts are escaped


def _row(columns: Iterable[Column], record: Mapping[str, Any]) -> str:
    cells = []
    for name, begin, show, leads_to in columns:
        text = _or_dash(record.get(name), show)
        if leads_to:
            text = f'<a href="{leads_to}{record["id"]}">{text}</a>'
        cells.append(f"{begin}{text}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _or_dash(value: Any, show: Show) -> str:
    return NOTHING if value is None or value == [] else show(value)


def _is_figure(field: Field) -> str:
    if field.kind == "changes":
        return ' class="changes"'
    return ' class="num"' if field.kind in FIGURES else ""


def escape(value: Any) -> str:
    """Of text, or of what becomes text: a `Markup` is escaped too."""
    return escape_text(str(value))


def _show(field: Field, referred: Referred, at: Workplace) -> Show:
    if field.kind == "reference":
        return _referring(field, referred, at)
    if field.kind == "facts":
        return _facts(field, referred, at)
    if field.choices and field.kind == "text":
        return _word
    return BY_KIND.get(field.kind, escape)


def _number(value: Any) -> str:
    return ZERO if value == 0 else f"<span>{words.figure(value)}</span>"


def _moment(value: str) -> str:
    return f'<time datetime="{escape(value)}">{escape(words.moment(value))}</time>'


def _status(value: str) -> str:
    code = escape(value)
    return f'<span class="chip {code}" title="{code}">{escape(words.status(value))}</span>'


def _days_left(days: int) -> str:
    """Of something that expires soon."""
    return f'<b class="{"warn" if days > 0 else "bad"}">{escape(words.days_left(days))}</b>'


def _list(value: Iterable[Any]) -> str:
    return escape(", ".join(map(str, value)))


def _sentence(value: str) -> str:
    return escape(told(value))


def _sentences(value: Iterable[str]) -> str:
    return "<br>".join(map(_sentence, value))


def _changes(value: Mapping[str, Mapping[str, Any]]) -> str:
    return "<br>".join(
        f"{escape(name if '.' in name else name_of(name))}: {_plain(change['before'])} → {_plain(change['after'])}"
        for name, change in value.items()
    )


def _plain(value: Any) -> str:
    if value is None or value == []:
        return DASH
    if isinstance(value, bool):
        return words.yes_or_no(value)
    return _list(value) if isinstance(value, list | dict) else escape(value)


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
    "number": _number,
    "flag": words.yes_or_no,
    "moment": _moment,
    "date": words.date,
    "status": _status,
    "days_left": _days_left,
    "list": _list,
    "sentence": _sentence,
    "sentences": _sentences,
    "table": lambda value: str(len(value)),
    "changes": _changes,
}
