"""What an import of rows reports: counts, or every error by row and column."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

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


Item = TypeVar("Item")
Progress = Callable[[int], None]
Upsert = Callable[..., None]


def chunks(items: Iterable[Item], size: int = CHUNK) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def missing(required: Iterable[str], given: Mapping[str, object]) -> FieldErrors:
    return {name: ["is required"] for name in required if name not in given}
