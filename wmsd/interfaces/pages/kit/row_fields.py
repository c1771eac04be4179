"""The table for a field with rows, such as the lines of an order.

Functions build the table, because the macros of a template take ten times as long. A form may have 1 000 rows of
five fields. Every text from outside of this file passes through `escape`.
"""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.pages.kit.form_fields import FormField, Typed, row_of
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import field_errors
from wmsd.interfaces.pages.kit.values import DASH, escape

FINDS: Mapping[str, str] = {"article_code": "articles"}
"""Fields that suggest records while a person types. The value is the kind of these records."""


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


def row_fields(
    field: FormField,
    count: int,
    typed: Typed,
    errors: Mapping[str, Sequence[str]],
    notes: Mapping[str, str],
    focus: str,
    address: str,
) -> Markup:
    """Return a table with `count` rows of the field."""
    form, rows = RowForm(typed, errors, notes, focus, address), [row_of(field, number) for number in range(count)]
    shown = [column for column in range(len(field.of)) if _has_column([row[column] for row in rows], form)]
    head = "".join(_head(field.of[column]) for column in shown)
    body = "\n".join(_row(row, [row[column] for column in shown], form) for row in rows)
    return Markup(  # noqa: S704 -- its parts are escaped
        f'<div class="wide"><table class="lines stacked"><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _has_column(fields: Sequence[FormField], form: RowForm) -> bool:
    """Return True if the table has this column. `fields` are the cells of the column, one for each row.

    If people cannot type in the column, the table has the column only if a cell has a value.
    """
    if not fields or fields[0].asks == "hidden":
        return False
    return fields[0].asks != "shown" or any(form.typed.get(field.name) for field in fields)


def _head(field: FormField) -> str:
    return f"<th{_class(field)}>{_heading(field)}</th>"


def _heading(field: FormField) -> str:
    return f"{escape(field.text)}{' *' if field.is_required else ''}"


def _row(row: Iterable[FormField], cells: Iterable[FormField], form: RowForm) -> str:
    """Return the HTML of a row. Hidden inputs are in the first cell."""
    hidden = "".join(_hidden(each, form) for each in row if each.asks in ("hidden", "shown"))
    first, *others = [_cell(each, form) for each in cells]
    return f"<tr>{first.removesuffix('</td>')}{hidden}</td>{''.join(others)}</tr>"


def _cell(field: FormField, form: RowForm) -> str:
    note = f'<span class="means small">{escape(form.notes[field.name])}</span>' if field.name in form.notes else ""
    content = f"{_control(field, form)}{note}{_errors(field, form)}"
    return f'<td{_class(field)} data-heading="{_heading(field)}">{content}</td>'


def _class(field: FormField) -> str:
    return ' class="num"' if field.asks == "number" else ""


def _hidden(field: FormField, form: RowForm) -> str:
    value = form.typed.get(field.name)
    return "" if value is None else f'<input type="hidden" name="{field.name}" value="{escape(value)}">'


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
