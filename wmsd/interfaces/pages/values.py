"""How the values of records are shown, as markup. Functions, because a list has hundreds of cells, and macros of a
template take ten times as long. Whatever is not written here passes through `escape`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from markupsafe import Markup, escape

from wmsd.interfaces.pages import words
from wmsd.interfaces.pages.fields import Field, name_of
from wmsd.interfaces.pages.language import told
from wmsd.interfaces.pages.referred import Referred
from wmsd.interfaces.pages.resources import Resource
from wmsd.interfaces.pages.workplace import Workplace

DASH: Final = "\N{EN DASH}"
NOTHING: Final = f'<span class="zero">{DASH}</span>'
FIGURES: Final = ("number", "integer", "table")


def shown(field: Field, value: Any, referred: Referred, at: Workplace) -> Markup:
    """The value of a field."""
    return Markup(_shown(field, value, referred, at))  # noqa: S704 -- its parts are escaped


def is_figure(field: Field) -> Markup:
    """The attribute of a cell that holds a figure."""
    return Markup(_is_figure(field))  # noqa: S704 -- a constant


def row(
    resource: Resource, fields: Iterable[Field], record: Mapping[str, Any], referred: Referred, at: Workplace
) -> Markup:
    """A row of a list. The key leads to the record."""
    key = resource.key if resource.one else ""
    cells = []
    for field in fields:
        text = _shown(field, record.get(field.name), referred, at)
        if field.name == key:
            text = f'<a href="{at.address}/{resource.name}/{record["id"]}">{text}</a>'
        cells.append(f"<td{_is_figure(field)}>{text}</td>")
    return Markup(f"<tr>{''.join(cells)}</tr>")  # noqa: S704 -- its parts are escaped


def _is_figure(field: Field) -> str:
    return ' class="num"' if field.kind in FIGURES else ""


def _shown(field: Field, value: Any, referred: Referred, at: Workplace) -> str:
    if value is None or value == []:
        return NOTHING
    if field.kind == "reference":
        return _reference(field, value, referred, at)
    if field.kind == "facts":
        return _facts(field, value, referred, at)
    if field.choices and field.kind == "text":
        return escape(words.status(value))
    return BY_KIND.get(field.kind, escape)(value)


def _number(value: Any) -> str:
    return '<span class="zero">0</span>' if value == 0 else f"<span>{words.figure(value)}</span>"


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
        f"{escape(name_of(name))}: {_plain(change['before'])} → {_plain(change['after'])}"
        for name, change in value.items()
    )


def _plain(value: Any) -> str:
    if value is None or value == []:
        return DASH
    if isinstance(value, bool):
        return words.yes_or_no(value)
    return _list(value) if isinstance(value, list | dict) else escape(value)


def _reference(field: Field, value: Any, referred: Referred, at: Workplace) -> str:
    found = referred.get((field.name, value))
    if found is None:
        return escape(value)
    address = f"{at.address}/{at.resource_referred(field.name).name}/{value}"
    name = f' <span class="soft">{escape(found["name"])}</span>' if "name" in found else ""
    return f'<a href="{escape(address)}">{escape(found["code"])}</a>{name}'


def _facts(field: Field, value: Mapping[str, Any], referred: Referred, at: Workplace) -> str:
    if not field.of:
        return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False, default=float))}</pre>"
    return "<br>".join(
        f"{escape(each.text)}: {_shown(each, value[each.name], referred, at)}"
        for each in field.of
        if value.get(each.name) is not None
    )


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
