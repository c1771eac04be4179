"""The guide page that lists the columns of every kind of file, from their declarations."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from wmsd.base.spreadsheet_cells import read_date, read_flag, read_moment
from wmsd.contract import csv_cells
from wmsd.imports.file_kinds import KINDS, Kind
from wmsd.interfaces.guide.source import Source, table_cell
from wmsd.warehouse.documents.file_rows import OF_A_LINE

TITLE: Final = "Columns of files"
ABOVE: Final = f"""# {TITLE}

The columns of the files for [imports and exports](/docs/importing), by kind of file. The columns may be in any
order, and columns that are not required may be missing. An export has all columns. `wmsd import articles FILE.csv`
imports a file of articles; the other kinds work in the same way. The import page has a template of each kind.
"""
CODE: Final = "_code"
INSIDE: Final = "."
"""The separator in the column name of a field inside an object, such as `address.postal_code`.

A name with this separator may end in `_code`, but its cells do not contain the codes of records.
"""
FORMS: Final[Mapping[Callable[[str], object], str]] = {
    read_flag: "`true` or `false`",
    read_date: "a date",
    read_moment: "a date and time",
    csv_cells.MEMBERS: "a list, with `;` between its members",
}
"""The descriptions of what a cell contains, by the function that reads the cell."""


def columns_page() -> str:
    lines = [ABOVE]
    for name, kind in KINDS.items():
        lines += [f"## {name}", "", *_table(kind), ""]
    return "\n".join(lines)


def _table(kind: Kind) -> list[str]:
    rows = [
        f"| `{name}` | {_form(name, field)} | {_required(name, field, kind)} | {_meaning(field)} |"
        for name, field in kind.columns.items()
    ]
    return ["| column | cell | required | means |", "|---|---|---|---|", *rows]


def _meaning(field: FieldInfo) -> str:
    return table_cell(field.description or "")


def _required(name: str, field: FieldInfo, kind: Kind) -> str:
    if name in kind.required:
        return "yes"
    return "for a new record" if field.is_required() and not csv_cells.is_nullable(field) else ""


def _form(name: str, field: FieldInfo) -> str:
    plain = csv_cells.plain_type(field)
    if get_origin(plain) is Literal:
        return " ".join(f"`{each}`" for each in get_args(plain))
    if csv_cells.is_number(field):
        return "a number"
    if plain is int:
        return "a whole number"
    if name.endswith(CODE) and INSIDE not in name:
        noun = name.removesuffix(CODE).removeprefix(OF_A_LINE).replace("_", " ")
        return f"the code of the {noun}{' of the line' if name.startswith(OF_A_LINE) else ''}"
    return FORMS.get(csv_cells.reader(field), "text")


COLUMNS: Final = Source(TITLE, columns_page)
