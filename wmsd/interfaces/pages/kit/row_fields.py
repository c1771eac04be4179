"""The table for a field with rows, such as the lines of an order.

Functions build the table, because the macros of a template take ten times as long. A form may have 1 000 rows of
five fields. Every text from outside of this file passes through `escape`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.pages.kit.form_fields import BETWEEN, NOT_ASKED, FormField, Typed, names_in
from wmsd.interfaces.pages.kit.quantities import DASH
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import field_errors
from wmsd.interfaces.pages.kit.values import escape

FINDS: Mapping[str, str] = {"article_code": "articles"}
"""Fields that suggest records while a person types. The value is the kind of these records."""

PLACE: Final = "\0"
"""The beginning of each place in a template of a cell. No text of a page contains this character."""


@dataclass(frozen=True, slots=True)
class RowForm:
    """The state of a form: values, errors and notes by the names of the fields.

    `notes` are shown next to the fields. `focus` is the name of the field with the focus. `address` is the address
    of the company.
    """

    typed: Typed
    errors: Mapping[str, Sequence[str]]
    notes: Mapping[str, str]
    focus: str
    address: str


class Column(NamedTuple):
    """A column of the table. `names` has the name of its field in each row."""

    field: FormField
    names: Sequence[str]


def row_fields(
    field: FormField,
    count: int,
    typed: Typed,
    errors: Mapping[str, Sequence[str]],
    notes: Mapping[str, str],
    focus: str,
    address: str,
) -> Iterator[Markup]:
    """Yield the HTML of a table with `count` rows of the field, in parts, so that a long table is not copied."""
    form = RowForm(typed, errors, notes, focus, address)
    columns = [Column(each, names_in(field, each, count)) for each in field.of]
    shown = [column for column in columns if _is_shown(column, form)]
    cells = [_cells(column, form) for column in shown]
    hidden = [_hidden(column, form) for column in columns if column.field.asks in NOT_ASKED] or [[""] * count]
    head = f'<div class="wide"><table class="lines stacked"><thead><tr>{"".join(map(_head, shown))}</tr></thead>'
    rows = map(_row, zip(*cells, strict=True), zip(*hidden, strict=True))
    yield from map(Markup, [f"{head}<tbody>\n", *rows, "</tbody></table></div>"])


def _is_shown(column: Column, form: RowForm) -> bool:
    """Return True if the table has this column.

    If people cannot type in the column, the table has the column only if a cell has a value.
    """
    if column.field.asks == "hidden" or not column.names:
        return False
    return column.field.asks != "shown" or any(form.typed.get(name) for name in column.names)


def _head(column: Column) -> str:
    return f"<th{_class(column.field)}>{_heading(column.field)}</th>"


def _heading(field: FormField) -> str:
    return f"{escape(field.text)}{' *' if field.is_required else ''}"


def _row(cells: Iterable[str], hidden: Iterable[str]) -> str:
    """Return the HTML of a row. Hidden inputs are in the first cell."""
    first, *others = cells
    return f"<tr>{first.removesuffix('</td>')}{''.join(hidden)}</td>{''.join(others)}</tr>\n"


def _hidden(column: Column, form: RowForm) -> list[str]:
    values = ((name, form.typed.get(name)) for name in column.names)
    return [
        "" if value is None else f'<input type="hidden" name="{name}" value="{escape(value)}">'
        for name, value in values
    ]


def _cells(column: Column, form: RowForm) -> list[str]:
    """Return the HTML of the column's cells.

    Most cells differ only in their names, values and notes. They are created from a template, because the form of
    a long document has thousands of them.
    """
    field, names = column.field, column.names
    values = [str(form.typed.get(name, "")) for name in names]
    notes = [form.notes.get(name, "") for name in names]
    escaped = {value: escape(value) for value in {*values}}
    spans = {note: _span(note) for note in {*notes}}
    if field.asks == "choice":
        templates = {value: _template(field, value, form.address) for value in escaped}
    else:
        templates = dict.fromkeys(escaped, _template(field, "", form.address))
    cells = [
        templates[value].format(name, escaped[value], spans[note])
        for name, value, note in zip(names, values, notes, strict=True)
    ]
    if form.errors or form.focus in names:
        for row, name in enumerate(names):
            if name in form.errors or name == form.focus:
                cells[row] = _cell(field._replace(name=name), form, spans[notes[row]])
    return cells


def _template(field: FormField, chosen: str, address: str) -> str:
    """Return a format string for a cell without errors. Its arguments are the name, the value and the note.

    `chosen` is the selected option, or "" if none is selected or if the field has no options.
    """
    name = f"{PLACE}{BETWEEN}{field.name}"
    value, note = f"{PLACE}value", f"{PLACE}note"
    cell = _cell(field._replace(name=name), RowForm({name: chosen or value}, {}, {}, "", address), note)
    for each, place in (("{", "{{"), ("}", "}}"), (name, "{0}"), (value, "{1}"), (note, "{2}")):
        cell = cell.replace(each, place)
    return cell


def _cell(field: FormField, form: RowForm, note: str) -> str:
    content = f"{_control(field, form)}{note}{_errors(field, form)}"
    return f'<td{_class(field)} data-heading="{_heading(field)}">{content}</td>'


def _span(note: str) -> str:
    return f'<span class="means small">{escape(note)}</span>' if note else ""


def _class(field: FormField) -> str:
    return ' class="num"' if field.asks == "number" else ""


def _errors(field: FormField, form: RowForm) -> str:
    if field.name not in form.errors:
        return ""
    sentences = field_errors(form.errors[field.name], field.text)
    return f'<p class="error" id="{field.name}-error">{escape(sentences)}</p>'


def _control(field: FormField, form: RowForm) -> str:
    value = escape(form.typed.get(field.name, ""))
    begin = f'id="{field.name}" name="{field.name}" aria-label="{escape(field.text)}"{_marks(field, form)}'
    match field.asks:
        case "shown":
            return f"<b>{value}</b>"
        case "choice":
            return f'<select {begin}><option value="">{DASH}</option>{_options(field, form)}</select>'
        case "lines":
            return f'<textarea {begin} rows="1">\n{value}</textarea>'
        case "number":
            return f'<input {begin} value="{value}" inputmode="decimal">'
    most = f' maxlength="{field.most}"' if field.most else ""
    found = FINDS.get(field.own_name)
    finds = f'data-choices="{escape(form.address)}/search/{found}" autocomplete="off"' if found else ""
    return f'<input {begin} value="{value}"{most} {finds or _listed(field)}>'


def _listed(field: FormField) -> str:
    """Return the HTML attribute that connects an input with the list of suggested codes. The form has this list
    only if it is short.
    """
    return f'list="{field.own_name}-list"'


def _marks(field: FormField, form: RowForm) -> str:
    wrong = f' aria-invalid="true" aria-describedby="{field.name}-error"' if field.name in form.errors else ""
    return f"{' autofocus' if field.name == form.focus else ''}{wrong}"


def _options(field: FormField, form: RowForm) -> str:
    chosen = form.typed.get(field.name)
    texts = ((escape(each), " selected" if each == chosen else "", words.status(each)) for each in field.choices)
    return "".join(f'<option value="{code}"{mark}>{escape(text)}</option>' for code, mark, text in texts)
