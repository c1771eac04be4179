"""Imports of many rows, and their outcome: counts, or every error by row and column."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors

CHUNK = 1000
MOST_ERRORS: Final = 1000
"""Errors of a file that are kept, the first ones. All are counted."""


@dataclass(frozen=True, slots=True)
class Row:
    """`line` is the number that a spreadsheet shows, the header being 1; `values` are the columns that could be
    read.
    """

    line: int
    values: dict[str, object]


@dataclass(frozen=True, slots=True)
class CellError:
    line: int
    column: str
    sentence: str


class Errors:
    """The first errors of a file, by line, and how many there are in all. Of each cell only the first counts: if
    the cell could not be read, that says so.

    All that grows with the file is a bit for each line, in each column that has errors.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[int, str], CellError] = {}
        self._until: int | None = None
        """The last line whose errors are kept; None as long as all are."""
        self._wrong: dict[str, bytearray] = {}
        """By column, a bit for each line."""
        self.in_all = 0

    def __bool__(self) -> bool:
        return self.in_all > 0

    @property
    def first(self) -> list[CellError]:
        """At most MOST_ERRORS."""
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
        """Whether this cell has an error, be it kept or only counted."""
        bits = self._wrong.get(column, b"")
        return line >> 3 < len(bits) and bool(bits[line >> 3] >> (line & 7) & 1)

    def take(self, others: "Errors") -> None:
        """Adds those that another reading of the file has found."""
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
        """How many cells have an error here and among the others."""
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
    """A code that looks like another one. Characters that cannot be seen stand in both as numbers."""

    line: int
    code: str
    other: str
    other_line: int | None
    """The row of the file that has the other; None for one that is there already."""
    in_all: int
    """How many there are, of which the first are told."""

    @property
    def differ_in(self) -> str:
        if self.code.lstrip("0") == self.other.lstrip("0"):
            return "zeros at the beginning, which spreadsheets drop"
        is_case = self.code.lower() == self.other.lower()
        return "capital letters only" if is_case else "characters that cannot be seen"


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
    """Nothing was imported; the outcome has the errors."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{outcome.errors.in_all} errors")
        self.outcome = outcome


class FirstSeen:
    """Finds duplicates in a file."""

    def __init__(self) -> None:
        self._lines: dict[object, int] = {}

    def line_before(self, key: object, line: int) -> int | None:
        before = self._lines.setdefault(key, line)
        return None if before == line else before

    def given_twice(self, row: Row) -> FieldErrors:
        """The error of a row whose code stands in a row before."""
        code = row.values.get("code")
        before = self.line_before(code, row.line) if code else None
        return {} if before is None else {"code": [f"is given twice; first in row {before}"]}


Progress = Callable[[int, int], None]
"""Takes (rows that are done, rows in all)."""


class Watch:
    """Reports an import's progress to whoever waits for it. This one reports to nobody."""

    def rows(self, done: int, of: int) -> None:
        """Rows that are done, of how many."""

    def checked(self) -> None:
        """The check found no error. Next the import becomes the writer."""

    def writing(self) -> None:
        """From now on other writers wait."""

    def committing(self) -> None:
        """Only the commit is left."""


class Import(Protocol):
    """An import of one kind of rows, in three steps. Only the last one keeps other writers waiting.

    Each step adds its errors to the outcome. Tables for the rows are created in `schema`, and used without its
    name.
    """

    checks_all: bool
    """Whether `write` can find no error when `check` found none."""

    def gather(self, tx: Any, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        """Collects the rows, and finds errors in the rows themselves. It must not read the company's data.

        Answers the number of rows.
        """

    def check(self, tx: Any, outcome: Outcome) -> None:
        """Checks the rows against the company's data: first on a snapshot, and again before writing."""

    def write(self, tx: Any, outcome: Outcome, progress: Progress) -> None:
        """Writes the rows. When the outcome has errors, everything that was written is rolled back."""


Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def missing(required: Iterable[str], given: Mapping[str, object]) -> FieldErrors:
    return {name: ["is required"] for name in required if name not in given}
