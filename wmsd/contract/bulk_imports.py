"""Imports of many rows, and their result: how many records were created and changed, or the errors by row and
column.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors

CHUNK = 1000
MOST_ERRORS: Final = 1000
"""How many errors of a file are stored, from the first line on. Further errors are only counted."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file.

    `line` is the number that a spreadsheet displays; the header is line 1. `values` holds the columns that could
    be read.
    """

    line: int
    values: dict[str, object]


@dataclass(frozen=True, slots=True)
class CellError:
    line: int
    column: str
    sentence: str


class Errors:
    """The errors of a file. `first` has the first errors with their text, and `in_all` is the number of all
    errors.

    At most one error counts for each cell. To save memory, only the first errors are stored as text. Each further
    error is stored as one bit for its line and column.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[int, str], CellError] = {}
        self._until: int | None = None
        """All errors up to this line are stored as text. None if this is true of all lines of the file."""
        self._wrong: dict[str, bytearray] = {}
        """For each column, one bit per line. The bit is 1 if the cell has an error."""
        self.in_all = 0

    def __bool__(self) -> bool:
        return self.in_all > 0

    @property
    def first(self) -> list[CellError]:
        """The first errors in the order of the lines, at most `MOST_ERRORS`."""
        return sorted(self._first.values(), key=lambda error: error.line)[:MOST_ERRORS]

    def add(self, error: CellError) -> None:
        if self.has(error.line, error.column):
            return
        self._mark(error.line, error.column)
        self.in_all += 1
        if self._until is None or error.line <= self._until:
            self._first[error.line, error.column] = error
            if len(self._first) > 2 * MOST_ERRORS:
                self._forget_later()

    def has(self, line: int, column: str) -> bool:
        """Return True if this cell has an error. It may be an error that is stored as text, or one that is only
        counted.
        """
        bits = self._wrong.get(column, b"")
        return line >> 3 < len(bits) and bool(bits[line >> 3] >> (line & 7) & 1)

    def take(self, others: "Errors") -> None:
        """Add the errors in `others`, which were found when the same file was read again. If a cell has an error
        in both objects, count it once.
        """
        news = [each for each in others._first.values() if not self.has(each.line, each.column)]
        for column, bits in others._wrong.items():
            both = _number(self._wrong.get(column, b"")) | _number(bits)
            self._wrong[column] = bytearray(
                both.to_bytes(max(len(bits), len(self._wrong.get(column, b""))), "little")
            )
        self.in_all = sum(_number(bits).bit_count() for bits in self._wrong.values())
        self._first |= {(each.line, each.column): each for each in news}
        if self.in_all > len(self._first):
            self._forget_later(min(each for each in (self._until, others._until) if each is not None))

    def cells_in_common(self, others: "Errors") -> int:
        """Return the number of cells that have an error both in this object and in `others`."""
        return sum(
            (_number(bits) & _number(others._wrong[column])).bit_count()
            for column, bits in self._wrong.items()
            if column in others._wrong
        )

    def _mark(self, line: int, column: str) -> None:
        bits = self._wrong.setdefault(column, bytearray())
        if (lacking := (line >> 3) + 1 - len(bits)) > 0:
            bits += bytes(lacking)
        bits[line >> 3] |= 1 << (line & 7)

    def _forget_later(self, until: int | None = None) -> None:
        kept = [each for each in self.first if until is None or each.line <= until]
        self._first = {(each.line, each.column): each for each in kept}
        self._until = kept[-1].line if len(kept) == MOST_ERRORS else until


def _number(bits: bytes | bytearray) -> int:
    return int.from_bytes(bits, "little")


@dataclass(frozen=True, slots=True)
class Alike:
    """Two codes that are easily confused: `code` is in the file, `other` is in the file or in an existing record.
    In both texts, invisible characters are replaced by their numbers.
    """

    line: int
    code: str
    other: str
    other_line: int | None
    """The row of the file that contains `other`. None if an existing record has the code `other`."""
    in_all: int
    """How many codes of the file are easily confused with another code. Only the first of them become `Alike`
    objects.
    """

    @property
    def differ_in(self) -> str:
        if self.code.lstrip("0") == self.other.lstrip("0"):
            return "leading zeros, which spreadsheets drop"
        is_case = self.code.lower() == self.other.lower()
        return "capital letters only" if is_case else "invisible characters"


@dataclass(slots=True)
class Outcome:
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    errors: Errors = field(default_factory=Errors)
    alike: list[Alike] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return self.created + self.updated + self.unchanged

    def refuse(self, line: int, errors: FieldErrors) -> None:
        for column, sentences in errors.items():
            for sentence in sentences:
                self.errors.add(CellError(line, column, sentence))


class ImportRefused(Exception):
    """The error that ends an import because its file has errors. Nothing was changed. `outcome` has the errors."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{outcome.errors.in_all} errors")
        self.outcome = outcome


class FirstSeen:
    """The line in which each key of a file first occurs, to find duplicates."""

    def __init__(self) -> None:
        self._lines: dict[object, int] = {}

    def line_before(self, key: object, line: int) -> int | None:
        before = self._lines.setdefault(key, line)
        return None if before == line else before

    def given_twice(self, row: Row) -> FieldErrors:
        """Return an error if an earlier row has the same code. Otherwise return an empty dict."""
        code = row.values.get("code")
        before = self.line_before(code, row.line) if code else None
        return {} if before is None else {"code": [f"is given twice; first in row {before}"]}


Progress = Callable[[int, int], None]
"""A function that is called with the number of finished rows and the number of all rows."""


class Watch:
    """A receiver of reports about the progress of an import. This class ignores the reports; a subclass shows them
    to the user.
    """

    def rows(self, done: int, of: int) -> None:
        """Report that `done` of `of` rows are finished."""

    def checked(self) -> None:
        """Report that the check found no error. Next, the import waits until it may write."""

    def writing(self) -> None:
        """Report that the import begins to write, and that other writers wait for the import from now on."""

    def committing(self) -> None:
        """Report that only the commit remains."""


class Import(Protocol):
    """An import of one kind of rows, in three steps: `gather`, `check` and `write`. Other writers wait only during
    `write`.

    Each step adds its errors to `outcome`. `gather` stores the rows in tables of an attached database, whose name
    is `schema`. The SQL of `check` and `write` names these tables without `schema`.
    """

    checks_all: bool
    """True if `check` finds every error. If `check` has found no error in a file, `write` then finds none."""

    def gather(self, tx: Any, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        """Collect the rows, and find errors in the rows themselves. Return the number of rows.

        `gather` must not read the company's data.
        """

    def check(self, tx: Any, outcome: Outcome) -> None:
        """Compare the rows with the company's data, and add the errors to `outcome`. This step runs twice: on a
        snapshot, and again just before `write`.
        """

    def write(self, tx: Any, outcome: Outcome, progress: Progress) -> None:
        """Write the rows. If the outcome has errors, the caller rolls everything back."""


Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def missing(required: Iterable[str], given: Mapping[str, object]) -> FieldErrors:
    return {name: ["is required"] for name in required if name not in given}
