"""Reads the rows of a CSV file, as programs and people write it."""

import csv
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pydantic.fields import FieldInfo

from wmsd.base import cells
from wmsd.base.dataclass import dataclass
from wmsd.base.decimal_marks import Mark
from wmsd.base.importing import CellError, Outcome, Row

DELIMITERS: Final = (",", ";", "\t")
CSV_FIELD_LIMIT: Final = 1024 * 1024
Columns = Mapping[str, FieldInfo]


MOST_NAMED: Final = 20
"""Unknown columns that are named, and for which a known one is looked for."""
LONGEST_NAMED: Final = 60


class Unreadable(Exception):
    """The file is no readable CSV; the sentences say where and why."""

    def __init__(self, *sentences: str) -> None:
        first, *others = sentences
        super().__init__(" ".join([first, *(each[0].upper() + each[1:] for each in others)]))
        self.sentences = sentences


@dataclass(frozen=True, slots=True)
class Form:
    """How a file is written. `delimiter`: None for the one that the header has most of."""

    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: Mark = "point"


PLAIN: Final = Form()
"""As this program writes files."""


@dataclass(frozen=True, slots=True)
class Header:
    """The names in the first line, and what is wrong with them."""

    names: tuple[str, ...]
    unknown: Mapping[str, str | None]
    """Each with the known column that is most like it."""
    twice: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return any(self.names) and not (self.unknown or self.twice or self.missing)


def read_header(columns: Columns, required: Iterable[str], cells_of_it: Sequence[str]) -> Header:
    names = tuple(name.strip() for name in cells_of_it)
    unknown: dict[str, str | None] = {}
    for name in names:
        if name not in columns:
            near = difflib.get_close_matches(name.lower(), list(columns), n=1) if len(unknown) < MOST_NAMED else []
            unknown[name] = next(iter(near), None)
    twice = tuple(name for name in sorted(set(names)) if names.count(name) > 1)
    return Header(names, unknown, twice, tuple(name for name in required if name not in names))


def read_rows(
    columns: Columns, required: Iterable[str], texts: Iterable[str], outcome: Outcome, form: Form = PLAIN
) -> Iterator[Row]:
    """The rows of a file's lines. Cells that cannot be read are added to the errors of the outcome. Raises
    Unreadable.
    """
    rows = split(texts, form.delimiter)
    names = _named(columns, required, next(rows, Line(1, [])).cells)
    readers = [(name, cells.reader(columns[name], form.decimal), columns[name]) for name in names]
    for row in rows:
        values = _values(readers, row.cells, row.number, outcome)
        if values is not None:
            yield Row(row.number, values)


@dataclass(frozen=True, slots=True)
class Line:
    """A row as it stands in the file. `number` is that of its last line."""

    number: int
    cells: list[str]


def split(texts: Iterable[str], delimiter: str | None) -> Iterator[Line]:
    """The rows of a file, without empty ones; the first is the header. Raises Unreadable."""
    lines = iter(texts)
    first = next(lines, "")
    csv.field_size_limit(CSV_FIELD_LIMIT)
    reader = csv.reader(_chained(first, lines), delimiter=delimiter or delimiter_of(first), strict=True)
    try:
        for place, row in enumerate(reader):
            if row or place == 0:
                yield Line(reader.line_num, [cells.unguarded(cell) for cell in row])
    except csv.Error as error:
        raise Unreadable(f"line {reader.line_num}: this is not CSV: {error}.") from None


def delimiter_of(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def decoded(lines: Iterable[bytes]) -> Iterator[str]:
    """The texts of lines in UTF-8. Raises Unreadable."""
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable(f"line {number} is not UTF-8 text. Save the file as CSV UTF-8.") from None
        yield text.removeprefix("\ufeff") if number == 1 else text


def _named(columns: Columns, required: Iterable[str], cells_of_it: list[str]) -> tuple[str, ...]:
    header = read_header(columns, required, cells_of_it)
    if not any(header.names):
        raise Unreadable(f"the first line must name the columns: {', '.join(columns)}.")
    if not header.is_right:
        raise Unreadable(*_wrong_names(columns, header))
    return header.names


def _wrong_names(columns: Columns, header: Header) -> list[str]:
    """What is wrong with the header. The known columns are listed once."""
    sentences = []
    for name, near in header.unknown.items():
        if near:
            sentences.append(f"there is no column {_named_as(name)}; did you mean {near}?")
    names = [_named_as(name) for name, near in header.unknown.items() if not near]
    known, shown = ", ".join(columns), ", ".join(names[:MOST_NAMED])
    if len(names) == 1:
        sentences.append(f"there is no column {shown}; the columns are {known}.")
    elif len(names) > MOST_NAMED:
        more = len(names) - MOST_NAMED
        sentences.append(f"there are no columns {shown}, and {more} more of the file; the columns are {known}.")
    elif names:
        sentences.append(f"there are no columns {shown}; the columns are {known}.")
    sentences += [f"the column {_named_as(name)} is there twice." for name in header.twice[:MOST_NAMED]]
    sentences += [f"the column {name!r} is missing." for name in header.missing]
    return sentences


def _named_as(name: str) -> str:
    return repr(name if len(name) <= LONGEST_NAMED else f"{name[:LONGEST_NAMED]}…")


def _values(
    readers: list[tuple[str, cells.ReadCell, FieldInfo]], row: list[str], line: int, outcome: Outcome
) -> dict[str, object] | None:
    """The row by column. A cell that cannot be read stays text, so that the row's other errors are found."""
    if len(row) != len(readers):
        sentence = f"has {len(row)} cells where the header has {len(readers)}"
        outcome.errors.append(CellError(line, "", sentence))
        return None
    values: dict[str, object] = {}
    for cell, (name, read, field) in zip(row, readers, strict=True):
        if cell == "":
            if cells.is_nullable(field):
                values[name] = None
            elif read is cells.MEMBERS:
                values[name] = []
            continue
        try:
            values[name] = read(cell)
        except ValueError as error:
            outcome.errors.append(CellError(line, name, str(error)))
            values[name] = cell
    return values
