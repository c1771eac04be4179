"""Conversion of field values to CSV cells and back.

`write_cell` writes a value as a cell. To read the cell, call `unguarded`, and then the function that `reader`
returns for the field. A list is written with `;` between its members. If the members contain `;` or cannot be read
back for another reason, the list is written as a JSON array.

A spreadsheet executes a text such as `=HYPERLINK(…)` as a formula, and any user may have typed that text.
Therefore a cell that looks like a formula is written with a `'` before it (OWASP, CSV injection). A part of a cell
that follows a `;` or a tab gets a `'` too if it looks like a formula. In countries with a decimal comma,
spreadsheets split lines at `;`. LibreOffice can also split them at tabs.

Some spreadsheets write the text 00123 as `'00123` or `="00123"`, so that it is not taken for a number. wmsd reads
both as 00123. If a text of wmsd itself has one of these forms, it is written with one more `'`. A spreadsheet
reads a text such as `1E+12` as a number, so it is written with a `'` too.
"""

import json
import re
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from wmsd.base import decimal_marks
from wmsd.base.decimal_marks import Mark
from wmsd.base.spreadsheet_cells import (
    POWER,
    SHORTENED,
    AsText,
    read_date,
    read_flag,
    read_moment,
    read_name,
)
from wmsd.base.strict_json import dumps
from wmsd.contract.fields import Dates, Decimals, Moments, Named

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE)
FORMULA = re.compile(
    r"'*[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2060-\u2064\ufeff]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]"
)
"""The beginning of a cell that a spreadsheet may run as a formula: a sign such as `=`, also in its full-width
form. Before the sign there may be invisible characters, and before these the `'` that wmsd adds.
"""
NUMBER_AS_TEXT = re.compile(rf"'+(?:[0-9]+(?:[.,][0-9]+)*|{POWER})", re.ASCII | re.IGNORECASE)
FORMULA_OF_TEXT = re.compile(r'="((?:[^"]|"")*)"')

ReadCell = Callable[[str], object]


def reader(field: FieldInfo, mark: Mark = "point") -> ReadCell:
    """Return the function that reads a cell of this field with this decimal mark.

    The function raises ValueError with an error sentence if it cannot read the cell.
    """
    plain, marks = _plain(field)
    return partial(decimal_marks.read, mark=mark) if Decimals in marks else _reader_of(plain, marks)


def typed_reader(field: FieldInfo) -> ReadCell:
    """Return the function that reads a value of this field from a text that a person has typed.

    The function raises ValueError if it cannot read the text, or if the text can mean two numbers. The error is a
    sentence for the person. For two numbers, it asks the person to write one of them.
    """
    plain, marks = _plain(field)
    return decimal_marks.read_typed if Decimals in marks else _reader_of(plain, marks)


def _reader_of(plain: Any, marks: tuple[Any, ...]) -> ReadCell:
    if plain is bool:
        return read_flag
    if get_origin(plain) is list:
        return _members
    return next((read for mark_of_it, read in TEXTS.items() if mark_of_it in marks), _text)


def read_record(text: str) -> Any:
    """Parse the JSON text of a record. Each number becomes a string, exactly as it is written in the JSON.

    Therefore an export neither rounds nor reformats numbers.
    """
    return json.loads(text, parse_float=str, parse_int=str)


def write_cell(value: object) -> str:
    """Return the cell for a value of a record that `read_record` has read."""
    return _guarded(plain_cell(value))


def unguarded(cell: str) -> str:
    """Return the cell without the `'` or `="…"` that `write_cell` or a spreadsheet has added. If it had one, the
    result is an `AsText`.
    """
    if (written := FORMULA_OF_TEXT.fullmatch(cell)) is not None:
        return AsText(written[1].replace('""', '"'))
    text = ";".join(_without_guards(part) if "\t" in part else _without_guard(part) for part in cell.split(";"))
    return text if text == cell else AsText(text)


def _without_guards(part: str) -> str:
    first, *others = _without_guard(part).split("\t")
    return "\t".join((first, *map(_without_guard, others)))


def _without_guard(part: str) -> str:
    return part[1:] if part[:1] == "'" and (FORMULA.match(part) or NUMBER_AS_TEXT.fullmatch(part)) else part


def _guarded(text: str) -> str:
    return ";".join(_with_guards(part) if "\t" in part else _with_guard(part) for part in text.split(";"))


def _with_guards(part: str) -> str:
    first, *others = part.split("\t")
    return _with_guard("\t".join((first, *map(_with_guard, others))))


def _with_guard(part: str) -> str:
    is_changed = _is_formula(part) or NUMBER_AS_TEXT.fullmatch(part) or SHORTENED.fullmatch(part)
    return f"'{part}" if is_changed else part


def _is_formula(text: str) -> bool:
    return FORMULA.match(text) is not None and not NUMBER.fullmatch(text)


def plain_cell(value: object) -> str:
    """Return the cell for a value as `write_cell` does, but do not escape formulas. Use it for readers that are
    not spreadsheets.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return _joined(value)
    return str(value)


def _joined(members: list[str]) -> str:
    joined = ";".join(members)
    with suppress(ValueError):
        if [member.strip() for member in members] == members == _members(joined):
            return joined
    return dumps(members)


def is_number(field: FieldInfo) -> bool:
    return Decimals in _plain(field)[1]


def is_moment(field: FieldInfo) -> bool:
    return Moments in _plain(field)[1]


def is_list(field: FieldInfo) -> bool:
    return get_origin(_plain(field)[0]) is list


def plain_type(field: FieldInfo) -> Any:
    """Return the field's type without None and Annotated."""
    return _plain(field)[0]


def is_nullable(field: FieldInfo) -> bool:
    return any(type(None) in get_args(part) for part in _parts(field.annotation))


def _members(cell: str) -> object:
    if cell.startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            raise ValueError("must be a list with ; between the values, or a JSON array") from None
    return [_named(member) for member in cell.split(";") if member]


MEMBERS: ReadCell = _members


def _text(cell: str) -> str:
    """Return the cell with LF in place of each CR LF. Programs write line breaks in both forms."""
    return cell.replace("\r\n", "\n")


def _named(cell: str) -> str:
    return _text(read_name(cell))


TEXTS: Final[Mapping[type, ReadCell]] = {Named: _named, Dates: read_date, Moments: read_moment}
"""The functions that read the cells of texts. Each key is a class in the annotation of the field, such as `Named`.
"""


def _plain(field: FieldInfo) -> tuple[Any, tuple[Any, ...]]:
    """Return the field's type without None and Annotated, and the metadata of the annotation, such as `Named`."""
    marks = list(field.metadata)
    annotation: Any = field.annotation
    for part in _parts(annotation):
        marks += getattr(part, "__metadata__", ())
        if get_origin(part) not in (Union, types.UnionType) and part is not type(None):
            annotation = part
    while hasattr(annotation, "__metadata__"):
        annotation = get_args(annotation)[0]
    return annotation, tuple(marks)


def _parts(annotation: Any) -> list[Any]:
    """Return the annotation, the type inside its `Annotated`, and the members of its union. Do the same for each
    of these types.
    """
    parts = [annotation]
    if hasattr(annotation, "__metadata__"):
        parts += _parts(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for option in get_args(annotation):
            parts += _parts(option)
    return parts
