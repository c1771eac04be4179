"""The errors of a file as users see them. Each error has the text of its cell, and an unknown code has the most
similar known code.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any, Final, NamedTuple, TextIO

from wmsd.base.dataclass import dataclass
from wmsd.base.decimal_marks import NO_NUMBER
from wmsd.base.plurals import count_of
from wmsd.contract import csv_cells
from wmsd.contract.bulk_imports import CellError, Errors
from wmsd.db.engine.transaction import Transaction
from wmsd.imports.csv_rows import Columns, Form, Unreadable, WrongHeader, column_name
from wmsd.imports.file_form import Guess, rows_of
from wmsd.warehouse.directory.store import CLIENTS, PARTNERS, WAREHOUSES
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.similar_codes import Key, codes_by_key, keys_of, nearest

LONGEST_CELL: Final = 200
NUMBER: Final = "must be a number"
CHOOSE: Final = "is not clear: choose whether the file has decimal points or decimal commas"


@dataclass(frozen=True, slots=True)
class Wrong:
    """An error, with the text of its cell in the file. `line` is 0 if the error is not about a row of the file."""

    line: int
    column: str
    cell: str | None
    sentence: str

    @property
    def where(self) -> str:
        row = f"row {self.line}" if self.line else ""
        return ", ".join(part for part in (row, self.column) if part)

    @property
    def text(self) -> str:
        """The error as users see it: row, column, sentence and cell."""
        quoted = "" if not self.cell else f' The cell has "{short_cell(self.cell)}".'
        return f"{self.where}: {self.sentence}.{quoted}"

    def as_json(self) -> dict[str, Any]:
        return {
            "row": self.line or None,
            "column": self.column,
            "cell": None if self.cell is None else short_cell(self.cell),
            "message": self.sentence,
        }


class FirstErrors(NamedTuple):
    """The first errors of a file, and the number of all errors."""

    first: Sequence[Wrong] = ()
    in_all: int = 0

    @property
    def more(self) -> int:
        """The number of errors that are counted but not listed."""
        return self.in_all - len(self.first)


def short_cell(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…"


def with_cells(file: IO[bytes], columns: Columns, form: Form, errors: Iterable[CellError]) -> list[Wrong]:
    """Read the file again, and return the errors together with the text of their cells. Long texts are cut."""
    errors = list(errors)
    wanted = {error.line for error in errors}
    last = max(wanted, default=0)
    lines: dict[int, list[str]] = {}
    names: list[str] = []
    with suppress(Unreadable), rows_of(file, form) as rows:  # `errors` already say why the file is unreadable
        for row in rows:
            if not names:
                names = [column_name(heading, columns) for heading in row.cells]
            elif row.number in wanted:
                lines[row.number] = [cell[: LONGEST_CELL + 1] for cell in row.cells]
            if row.number >= last:
                break
    return [
        Wrong(each.line, each.column, _cell(names, lines.get(each.line), each), each.sentence) for each in errors
    ]


def _cell(names: list[str], row: list[str] | None, error: CellError) -> str | None:
    """Return the cell of an error, or None if it cannot be found.

    An error in a member of a list, such as `barcodes.1`, belongs to the cell of the list.
    """
    name = error.column
    while name and name not in names:
        name = name.rpartition(".")[0]
    if not name or row is None or len(row) != len(names):
        return None
    return row[names.index(name)]


def of_file(error: Unreadable) -> list[Wrong]:
    """Convert the exception for an unreadable file to a list of errors. An error of the header gets the row number
    1, and any other error gets 0.
    """
    if isinstance(error, WrongHeader):
        at = [(column, sentence) for column, sentences in error.wrong.items() for sentence in sentences]
        return [Wrong(1, column, None, sentence.removesuffix(".")) for column, sentence in at]
    return [Wrong(0, "", None, sentence.removesuffix(".")) for sentence in error.sentences]


def in_both(errors: Errors, others: Errors) -> tuple[list[CellError], int]:
    """Return the first errors that occur with both decimal marks, and the number of all such errors.

    `errors` are the errors of the file with one decimal mark, and `others` the errors with the other mark. Each
    has sentences only for its first errors, but it knows the cells of all its errors. Errors in the same cell
    count as the same error, unless two known sentences differ.
    """
    known = {(each.line, each.column): _with_either_mark(each) for each in others.first}
    either = [each for each in map(_with_either_mark, errors.first) if others.has(each.line, each.column)]
    same = [each for each in either if known.get((each.line, each.column), each) == each]
    return same, errors.cells_in_common(others) - len(either) + len(same)


def _with_either_mark(error: CellError) -> CellError:
    return replace(error, sentence=NUMBER) if error.sentence in NO_NUMBER.values() else error


def cells_to_ask(guessed: Guess) -> list[Wrong]:
    """Return an error for each cell in `Guess.questions`. The error asks the user to choose the decimal mark."""
    return [Wrong(each.line, each.column, each.text, CHOOSE) for each in guessed.questions]


def write_errors(errors: Iterable[Wrong], file: TextIO, more: int = 0) -> None:
    """Write errors as CSV. If `more` is not 0, a last row says that there are `more` errors that are not listed.

    Cells are escaped, so that no spreadsheet runs them as formulas.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["row", "column", "cell", "message"])
    for each in errors:
        row = [each.line or "", short_cell(each.column), short_cell(each.cell or ""), each.sentence]
        writer.writerow([csv_cells.write_cell(value) for value in row])
    if more:
        kept = f"and {count_of(more, 'more error')}, which are only counted"
        writer.writerow(["", "", "", kept])


UNKNOWN: Final = re.compile("^is not an? (.+) of this company$")
TABLES: Final[Mapping[str, str]] = {
    "article": "articles",
    "packaging type": "packaging_types",
    **{kind.noun: kind.table for kind in (CLIENTS, PARTNERS, WAREHOUSES)},
    **{kind.table.noun: kind.table.name for kind in DOCUMENTS},
}
"""The table to search for a similar code. The key is the noun in the error "is not a … of this company"."""


def with_similar_codes(tx: Transaction, errors: Iterable[Wrong]) -> list[Wrong]:
    """Return the errors, adding the most similar known code to each error about an unknown code.

    A code is similar if only capitals and blanks differ. If there is no such code, signs such as `-` may differ
    too. If several codes are similar, no code is added. Each table is read only once.
    """
    errors = list(errors)
    wanted: dict[str, set[Key]] = {}
    for each in errors:
        if (table := _table(each)) is not None and each.cell:
            wanted.setdefault(table, set()).update(keys_of(each.cell))
    found = {table: codes_by_key(tx, table, keys) for table, keys in wanted.items()}
    return [_with_meant(each, found.get(_table(each) or "", {})) for each in errors]


def _table(error: Wrong) -> str | None:
    named = UNKNOWN.match(error.sentence)
    return None if named is None else TABLES.get(named[1])


def _with_meant(error: Wrong, codes: Mapping[Key, str | None]) -> Wrong:
    code = nearest(keys_of(error.cell or ""), codes)
    return error if code is None else replace(error, sentence=f"{error.sentence}; {code} is the nearest code")
