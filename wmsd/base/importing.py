"""Imports of many rows, and their outcome: counts, or every error by row and column."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from typing import Any, Protocol, TypeVar

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors

CHUNK = 1000


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
    errors: list[CellError] = field(default_factory=list)
    alike: list[Alike] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return self.created + self.updated + self.unchanged

    def refuse(self, line: int, errors: FieldErrors) -> None:
        for column, sentences in errors.items():
            self.errors += [CellError(line, column, sentence) for sentence in sentences]


class ImportRefused(Exception):
    """Nothing was imported; the outcome has the errors."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{len(outcome.errors)} errors")
        self.outcome = outcome


class FirstSeen:
    """Finds duplicates in a file."""

    def __init__(self) -> None:
        self._lines: dict[object, int] = {}

    def line_before(self, key: object, line: int) -> int | None:
        before = self._lines.setdefault(key, line)
        return None if before == line else before


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
