"""A reader for the rows of CSV files from spreadsheets and other programs."""

import csv
import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from pydantic.fields import FieldInfo

from wmsd.base.dataclass import dataclass
from wmsd.base.decimal_marks import Mark
from wmsd.base.problems import by_path
from wmsd.contract import csv_cells as cells
from wmsd.contract.bulk_imports import CellError, Outcome, Row

DELIMITERS: Final = (",", ";", "\t")
CSV_FIELD_LIMIT: Final = 1024 * 1024
UNFINISHED: Final = "unexpected end of data"
TOO_LARGE: Final = "field larger than field limit"
"""`UNFINISHED` and `TOO_LARGE` are parts of error messages of Python's CSV reader. They usually mean that a
quotation mark is never closed: the file ends inside a cell, or a cell is too long.
"""
NO_ROWS: Final = "The file has only the line that names the columns, so there are no rows to import."
Columns = Mapping[str, FieldInfo]


LIKE: Final = 0.7
"""How similar a mistyped column name must be to a known column, from 0 to 1."""
MOST_NAMED: Final = 20
"""The maximum number of unknown columns that one error names. wmsd also searches for a similar known column only
for this many unknown columns.
"""
LONGEST_NAMED: Final = 60
MOST_COLUMNS: Final = 200
"""The most columns that a file may have. Every kind of file has fewer known columns."""


class Unreadable(Exception):
    """The error for a file that cannot be read as CSV. `sentences` say where and why."""

    def __init__(self, *sentences: str) -> None:
        first, *others = sentences
        super().__init__(" ".join([first, *(each[0].upper() + each[1:] for each in others)]))
        self.sentences = sentences


class WrongHeader(Unreadable):
    """The error for a wrong header. `wrong` maps each wrong column name to its error sentences. The key "" is for
    errors of the whole header.
    """

    def __init__(self, wrong: Mapping[str, Sequence[str]]) -> None:
        super().__init__(*(sentence for sentences in wrong.values() for sentence in sentences))
        self.wrong = wrong


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a CSV file. If `delimiter` is None, the most frequent delimiter of the header is used."""

    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: Mark = "point"


PLAIN: Final = Form()
"""The form of the files that wmsd writes."""


@dataclass(frozen=True, slots=True)
class Header:
    """The column names of the first line, and their errors."""

    names: tuple[str, ...]
    unknown: Mapping[str, str | None]
    """The unknown names, each with the most similar known column, or None if no known column is similar."""
    twice: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return any(self.names) and not (self.unknown or self.twice or self.missing)


def _near(name: str, columns: Columns) -> str | None:
    """Return the known column that is most similar to `name`, or None if no column is similar enough.

    Names must be very similar: `unit` does not match `quantity`, although `quantity` contains most letters of
    `unit`.
    """
    return next(iter(difflib.get_close_matches(name.lower(), list(columns), n=1, cutoff=LIKE)), None)


def column_name(heading: str, columns: Columns) -> str:
    """Return the known column for a heading, ignoring capitals and surrounding blanks.

    Return the stripped heading itself if no column matches.
    """
    name = heading.strip()
    return lowered if name not in columns and (lowered := name.lower()) in columns else name


def read_header(
    columns: Columns, required: Iterable[str], cells_of_it: Sequence[str], of_lines: Collection[str] = ()
) -> Header:
    """Compare the cells of the header (`cells_of_it`) with the known `columns`. Return the names and their errors.

    `of_lines` are the columns of document lines. A file without these columns can change existing documents, but
    not create any. In this case the columns in `required` may be missing.
    """
    names = tuple(column_name(heading, columns) for heading in cells_of_it)
    unknown: dict[str, str | None] = {}
    for name in names:
        if name not in columns:
            unknown[name] = _near(name, columns) if len(unknown) < MOST_NAMED else None
    twice = tuple(sorted(name for name, count in Counter(names).items() if count > 1))
    needed = required if not of_lines or any(name in of_lines for name in names) else ()
    return Header(names, unknown, twice, tuple(name for name in needed if name not in names))


def read_rows(
    columns: Columns,
    required: Iterable[str],
    texts: Iterable[str],
    outcome: Outcome,
    form: Form = PLAIN,
    of_lines: Collection[str] = (),
) -> Iterator[Row]:
    """Yield the rows of a file. `texts` are its lines (see `split`).

    Add an error to `outcome` for each unreadable cell and for each row with a wrong number of cells. Raise
    Unreadable if the file is not valid CSV. Raise WrongHeader if a column is unknown or missing, or appears twice.
    """
    rows = split(texts, form.delimiter)
    names = _named(columns, required, next(rows, Line(1, [])).cells, of_lines)
    readers = [(name, cells.reader(columns[name], form.decimal), columns[name]) for name in names]
    for row in rows:
        values = _values(readers, row, outcome)
        if values is not None:
            yield Row(row.number, values)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the file. `number` is the row number in a spreadsheet: the header is row 1, and empty rows count.

    `stray` is the number, from 1, of the first column that has a value in this row but no heading. It is None if
    there is no such column.
    """

    number: int
    cells: list[str]
    stray: int | None = None


def split(texts: Iterable[str], delimiter: str | None) -> Iterator[Line]:
    """Yield the header and then the rows of a file, without empty rows and without columns that have no heading.

    Each of `texts` is one line, or a line together with the empty lines after this line. Raise Unreadable if the
    file is not valid CSV.
    """
    lines = Quotes(iter(texts))
    first = next(lines, "")
    if not first:
        raise Unreadable("the file is empty. Its first line must name the columns.")
    csv.field_size_limit(CSV_FIELD_LIMIT)
    reader = csv.reader(chain((first,), lines), delimiter=delimiter or delimiter_of(first), strict=True)
    try:
        header = _unguarded(next(reader, []))
        named = sum(bool(name.strip()) for name in header)
        if named > MOST_COLUMNS:
            raise Unreadable(f"the first line names {named} columns, but at most {MOST_COLUMNS} are allowed.")
        nameless = {place for place, name in enumerate(header) if not name.strip()}
        yield Line(1, [name for name in header if name.strip()])
        number = 1 + lines.end_record()
        for row in reader:
            begun, number = number, number + lines.end_record()
            if any(cell and not cell.isspace() for cell in row):
                yield _under(len(header), nameless, Line(begun, _unguarded(row)))
    except csv.Error as error:
        if UNFINISHED in str(error) or (TOO_LARGE in str(error) and lines.open_since):
            raise Unreadable(f"line {lines.begun}: a quotation mark opens here and is never closed.") from None
        raise Unreadable(f"line {lines.number}: this is not CSV: {error}.") from None


class Quotes:
    """An iterator over the lines of a file. `open_since` is the number of the line with a quotation mark that is
    not closed yet, or None.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._before = self._done = 0
        self._ends = 1
        self.number = 0
        """The number, from 1, of the line that the iterator returned last. If its last item had several lines,
        this is the first of them.
        """
        self.open_since: int | None = None

    def end_record(self) -> int:
        """End the current record, and return the number of spreadsheet rows that it occupies.

        An item of the iterator may contain empty lines after a line (see `split`). If the record's last item
        contains such lines, they count too.
        """
        self._before, self.open_since = self._done, None
        return self._ends

    @property
    def begun(self) -> int:
        """The number of the line with the quotation mark that is not closed yet. If there is none, the number of
        the first line of the current record.
        """
        return self.open_since or self._before + 1

    def __iter__(self) -> "Quotes":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._ends = ends_in(line) or 1
        self.number, self._done = self._done + 1, self._done + self._ends
        if line.count('"') % 2:
            self.open_since = self.number if self.open_since is None else None
        return line


def ends_in(text: str) -> int:
    """Return the number of line ends in `text`. LF, CR and CR LF each count as one line end."""
    ends = text.count("\n")
    return ends + text.count("\r") - text.count("\r\n") if "\r" in text else ends


def _unguarded(row: list[str]) -> list[str]:
    return [cells.unguarded(cell) for cell in row]


def _under(width: int, nameless: set[int], row: Line) -> Line:
    """Return the row without the columns that have no heading, and without empty cells after the last column. Some
    spreadsheets add such empty cells.

    `width` is the number of columns, and `nameless` the positions, from 0, of the columns without a heading.
    """
    found = row.cells
    while len(found) > width and not found[-1]:
        found.pop()
    if not nameless:
        return row
    stray = next((n for n, cell in enumerate(found) if n in nameless and cell and not cell.isspace()), None)
    return Line(
        row.number,
        [cell for place, cell in enumerate(found) if place not in nameless],
        None if stray is None else stray + 1,
    )


def delimiter_of(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _named(
    columns: Columns, required: Iterable[str], cells_of_it: list[str], of_lines: Collection[str]
) -> tuple[str, ...]:
    header = read_header(columns, required, cells_of_it, of_lines)
    if not any(header.names):
        raise WrongHeader({"": [f"the first line must name the columns: {', '.join(columns)}."]})
    if not header.is_right:
        raise WrongHeader(by_path(_wrong_names(columns, header)))
    return header.names


def _wrong_names(columns: Columns, header: Header) -> Iterator[tuple[str, str]]:
    """Yield each wrong column of the header with its error sentence. Unknown columns that are similar to no known
    column share one sentence, which lists all known columns.
    """
    for name, near in header.unknown.items():
        if near:
            yield name, f"the column {_named_as(name)} is unknown; did you mean {near}?"
    others = [name for name, near in header.unknown.items() if not near]
    named, known = others[:MOST_NAMED], ", ".join(columns)
    together, shown = ", ".join(named), ", ".join(map(_named_as, named))
    if len(others) == 1:
        yield together, f"the column {shown} is unknown; the known columns are {known}."
    elif len(others) > MOST_NAMED:
        more = len(others) - MOST_NAMED
        yield (
            together,
            (
                f"the columns {shown} and {more} other columns of the file are unknown; the known columns are "
                f"{known}."
            ),
        )
    elif others:
        yield together, f"the columns {shown} are unknown; the known columns are {known}."
    for name in header.twice[:MOST_NAMED]:
        yield name, f"the column {_named_as(name)} appears twice."
    for name in header.missing:
        yield name, f"the column {name!r} is missing."


def _named_as(name: str) -> str:
    return repr(name if len(name) <= LONGEST_NAMED else f"{name[:LONGEST_NAMED]}…")


def _values(
    readers: list[tuple[str, cells.ReadCell, FieldInfo]], row: Line, outcome: Outcome
) -> dict[str, object] | None:
    """Return the values of the row by column, or None if the number of cells is wrong. Add errors to `outcome`.

    If a cell cannot be read, its value is the text of the cell. So later checks can find other errors of the row.
    For an empty cell, the value is None or an empty list if the column allows this. If the column does not allow
    it, the result does not contain the column.
    """
    if row.stray is not None:
        sentence = f"has a value in column {row.stray}, but this column has no heading"
        outcome.errors.add(CellError(row.number, "", sentence))
    if len(row.cells) != len(readers):
        has, needs = len(row.cells), len(readers)
        sentence = f"has {has} {'cell' if has == 1 else 'cells'}, but the header has {needs}"
        outcome.errors.add(CellError(row.number, "", sentence))
        return None
    values: dict[str, object] = {}
    for cell, (name, read, field) in zip(row.cells, readers, strict=True):
        if cell == "":
            if cells.is_nullable(field):
                values[name] = None
            elif read is cells.MEMBERS:
                values[name] = []
            continue
        try:
            values[name] = read(cell)
        except ValueError as error:
            outcome.errors.add(CellError(row.number, name, str(error)))
            values[name] = cell
    return values
