"""Detects the format of a CSV file: its encoding, delimiter and decimal mark.

If a wrong guess could change data, wmsd asks the user: `1.000` is a thousand in some countries and one in others.
"""

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import field
from decimal import Decimal
from io import TextIOWrapper
from typing import IO, Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.decimal_marks import MARKS, SIGN_OF, Mark, number_readings
from wmsd.contract import csv_cells
from wmsd.imports.csv_rows import Columns, Form, Line, Unreadable, column_name, delimiter_of, ends_in, split
from wmsd.imports.encodings import ENCODINGS, SAVE_AS, Sample, encoding_of, not_readable, sample_of

DELIMITER_NAMES: Final[Mapping[str, str]] = {",": "comma", ";": "semicolon", "\t": "tab"}
LONGEST_LINE: Final = 4 * 1024 * 1024
PIECE: Final = 64 * 1024
"""The number of characters that are read in one step."""
LINES: Final = re.compile(r"[^\r\n]*[\r\n]+")
"""A pattern for a line, its line end, and the empty lines after it."""
MOST_QUESTIONS: Final = 5
NAMES_DELIMITER: Final = re.compile(r"sep=.(?:\r\n|\r|\n|\Z)", re.IGNORECASE)
"""A pattern for a first line such as `sep=;`, which names the delimiter for spreadsheets. wmsd skips this line,
and detects the delimiter from the header.
"""
MARK: Final = "\ufeff"
"""The byte order mark, decoded."""
__all__ = ["ENCODINGS", "Chosen", "Guess", "guess", "lines_of", "rows_of"]


class Cell(NamedTuple):
    line: int
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """The format of the file as the user has chosen it. A field is None if the user has not chosen it. wmsd then
    detects it.
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: Mark | None = None


@dataclass(slots=True)
class Guess:
    form: Form
    evidence: Cell | None = None
    """The first cell that shows the decimal mark, or None if the mark was not detected."""
    questions: list[Cell] = field(default_factory=list)
    """The cells that make the decimal mark unclear, or an empty list if the user has chosen the mark.

    If some cells can be read only with the point and others only with the comma, these are the first cell of each
    kind. Otherwise they are the first few cells that could be two different numbers.
    """
    sample: Sample | None = None
    """A cell that shows the user how the file was decoded, or None. There is a sample if the detected encoding is
    doubtful, or if the file has different letters in another encoding.
    """

    @property
    def question(self) -> str | None:
        """The question about the decimal mark that the user must answer before the import, or None."""
        if not self.questions:
            return None
        line, column, text = self.questions[0]
        found = number_readings(text)
        if len(found) < len(MARKS):
            point, comma = sorted(self.questions, key=lambda each: "comma" in number_readings(each.text))
            return (
                f'Row {point.line}, {point.column}: "{point.text}" has a decimal point, but row '
                f'{comma.line}, {comma.column}: "{comma.text}" has a decimal comma. Choose the decimal mark '
                "of the file."
            )
        as_point, as_comma = (_plain(found[mark]) for mark in MARKS)
        if self.evidence is not None:
            shows, of, cell = self.evidence
            mark = "decimal comma" if self.form.decimal == "comma" else "decimal point"
            return (
                f'Row {line}, {column}: "{text}" means {as_point} with a decimal point, and {as_comma} with '
                f"a decimal comma. The file probably uses a {mark}, because row {shows}, {of} has "
                f'"{cell}". Choose the decimal mark of the file.'
            )
        return (
            f'Row {line}, {column}: "{text}" means {as_point} with a decimal point, and {as_comma} with a '
            "decimal comma. Choose the decimal mark of the file."
        )


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def guess(file: IO[bytes], columns: Columns, chosen: Chosen) -> Guess:
    """Detect the format of the file. Raise Unreadable if the file is not valid CSV.

    The function reads the whole file, and then sets the file's position to the beginning.
    """
    encoding, others, is_doubtful = encoding_of(file, chosen.encoding)
    with closing(lines_of(file, encoding)) as texts:
        delimiter = chosen.delimiter or delimiter_of(next(texts, ""))
    form = Form(encoding, delimiter, chosen.decimal or "point")
    found = Guess(form) if chosen.decimal else _with_decimal(form, Numbers.of(file, columns, form))
    if others or is_doubtful:
        with rows_of(file, form) as rows:
            next(rows, None)
            found.sample = sample_of(rows, encoding, others)
    file.seek(0)
    return found


@contextmanager
def rows_of(file: IO[bytes], form: Form) -> Iterator[Iterator[Line]]:
    """Yield an iterator over the rows of the file. The first row is the header. Raise Unreadable if the file is
    not valid CSV.
    """
    with closing(lines_of(file, form.encoding)) as texts:
        yield split(texts, form.delimiter)


def lines_of(file: IO[bytes], encoding: str) -> Generator[str, None, None]:
    """Yield the lines of the file with their line ends. Skip a first line that names the delimiter, such as
    `sep=;`.

    Empty lines are joined to the line before them, as `split` expects. In this way, even millions of empty lines
    are skipped quickly. Raise Unreadable if the file is not valid text.
    """
    file.seek(0)
    reader = TextIOWrapper(file, "utf-8-sig" if encoding == "utf-8" else encoding, newline="")
    done = 0
    try:
        for block in _blocks(reader):
            for place, line in enumerate(block):
                if "\0" in line or len(line) >= LONGEST_LINE:
                    _check(line, done + ends_in("".join(block[:place])) + 1)
                if not done and not place:  # programs that append to a file may add a second byte order mark
                    line = line.lstrip(MARK)
                if done or place or (named := NAMES_DELIMITER.match(line)) is None:
                    yield line
                elif named.end() < len(line):  # the empty lines after the skipped line
                    yield line[named.end() :]
            done += ends_in("".join(block))
    except UnicodeError:
        raise not_readable(file, encoding) from None
    finally:
        reader.detach()


def _blocks(reader: TextIOWrapper) -> Iterator[list[str]]:
    rest = ""
    while piece := reader.read(PIECE):
        text = rest + piece
        sure = len(text) - text.endswith("\r")  # a "\r" at the end may be the first half of "\r\n"
        end = max(text.rfind("\n", 0, sure), text.rfind("\r", 0, sure)) + 1
        yield LINES.findall(text, 0, end)
        rest = text[end:]
        if len(rest) >= LONGEST_LINE:
            break
    if rest:
        yield [rest]


def _check(line: str, number: int) -> None:
    """Raise Unreadable if the line has a zero byte or is too long."""
    if "\0" in line:
        raise Unreadable(f"line {number} has a byte of value 0, so the file is not text. {SAVE_AS}")
    if len(line.rstrip("\r\n")) >= LONGEST_LINE:
        raise Unreadable(f"line {number} is longer than {LONGEST_LINE} characters.")


@dataclass(slots=True)
class Numbers:
    """The cells of a file that show its decimal mark, or leave it open."""

    sure: dict[Mark, Cell] = field(default_factory=dict)
    """For each decimal mark, the first cell that can be read only with this mark. For the point, such a cell is
    `1.5`.
    """
    either: dict[Mark, list[Cell]] = field(default_factory=lambda: {mark: [] for mark in MARKS})
    """For each decimal mark, the first cells that contain this mark and could be two different numbers. For the
    point, such a cell is `1.000`, which is 1 or 1000.
    """

    @classmethod
    def of(cls, file: IO[bytes], columns: Columns, form: Form) -> "Numbers":
        found = cls()
        with rows_of(file, form) as rows:
            header = next(rows, None)
            names = [column_name(heading, columns) for heading in header.cells] if header else []
            places = [
                (n, name) for n, name in enumerate(names) if name in columns and csv_cells.is_number(columns[name])
            ]
            for row in rows if places else ():
                for place, name in places:
                    if place < len(row.cells):
                        found._add(Cell(row.number, name, row.cells[place]))
        return found

    def _add(self, cell: Cell) -> None:
        if cell.text.isdecimal():
            return
        found = number_readings(cell.text)
        if len(found) == 1:
            self.sure.setdefault(next(iter(found)), cell)
        elif len(set(found.values())) > 1:
            for mark in MARKS:
                if SIGN_OF[mark] in cell.text and len(self.either[mark]) < MOST_QUESTIONS:
                    self.either[mark].append(cell)


def _with_decimal(form: Form, numbers: Numbers) -> Guess:
    """Return a guess of the decimal mark. If all cells in `numbers.sure` show the same mark, the guess has this
    mark.

    The user must answer a question in three cases:
    - Cells in `numbers.sure` show different marks.
    - No cell shows the mark, and some cells could be two different numbers.
    - Some cells could be two different numbers with the guessed mark, for example `1.000`.
    """
    if len(numbers.sure) > 1:
        return Guess(form, questions=sorted(numbers.sure.values()))
    if not numbers.sure:
        return Guess(form, questions=sorted(cell for of_mark in numbers.either.values() for cell in of_mark))
    (mark, evidence) = next(iter(numbers.sure.items()))
    return Guess(Form(form.encoding, form.delimiter, mark), evidence, numbers.either[mark])
