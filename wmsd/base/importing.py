"""How many rows go in at once, and what that reports: counts, or every error by row and column."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, TypeVar

from wmsd.base.problems import FieldErrors

CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """`line` is where the row ends in its file; `values` are those of its columns that were read."""

    line: int
    values: dict[str, object]


@dataclass(frozen=True, slots=True)
class CellError:
    line: int
    column: str
    sentence: str


@dataclass(slots=True)
class Outcome:
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    errors: list[CellError] = field(default_factory=list)

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
    """Finds what a file gives twice."""

    def __init__(self) -> None:
        self._lines: dict[object, int] = {}

    def line_before(self, key: object, line: int) -> int | None:
        before = self._lines.setdefault(key, line)
        return None if before == line else before


Progress = Callable[[int, int], None]
"""(rows that are done, of how many)"""


class Watch:
    """What is told of an import to whoever waits for it. This one tells nobody."""

    def rows(self, done: int, of: int) -> None:
        """How many rows are done, of how many."""

    def checked(self) -> None:
        """Nothing is known to be wrong. The next thing is to become the writer."""

    def writing(self) -> None:
        """From now on other writers wait."""

    def committing(self) -> None:
        """Only the commit is left."""


class Import(Protocol):
    """One import of a kind of rows, in three steps, of which only the last keeps other writers waiting.

    Whatever is found by a step is told to the outcome. Tables of rows are made in the `schema`, without whose name
    they are spoken of.
    """

    checks_all: bool
    """Whether a `check` without an error leaves none for `write` to find."""

    def gather(self, tx: Any, schema: str, rows: Iterable[Row], outcome: Outcome) -> int:
        """Takes the rows in and finds what is wrong with them as such. It must not read the company's data.

        How many there are.
        """

    def check(self, tx: Any, outcome: Outcome) -> None:
        """Holds the rows against the company's data. It is done over a snapshot, and again before the writing."""

    def write(self, tx: Any, outcome: Outcome, progress: Progress) -> None:
        """Writes them, if they may be. Whatever was written is undone when the outcome has errors."""


Item = TypeVar("Item")


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def missing(required: Iterable[str], given: Mapping[str, object]) -> FieldErrors:
    return {name: ["is required"] for name in required if name not in given}
