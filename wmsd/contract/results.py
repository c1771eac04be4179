"""What actions return. Records are JSON texts: SQLite renders them (see `db/sql/records.py`)."""

from collections.abc import Sequence
from typing import Any

from wmsd.base.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    id: int
    json: str
    is_new: bool = True
    """False when a creating operation found the record already there."""
    name: str | None = None
    """The last part of its address, if that is not the id."""


@dataclass(frozen=True, slots=True)
class Page:
    """`records`: JSON texts with commas between them."""

    records: str
    total: int
    ids: Sequence[int] = ()
    """Of all its records, in order, where they are too large to be read at once. `records` has the first ones."""
    number: int = 0
    """How many of them `records` has."""


@dataclass(frozen=True, slots=True)
class CursorPage:
    """`records`: JSON texts with commas between them; `positions`: their positions in the order, likewise."""

    records: str
    end_position: int
    """The position of the last record; of an empty page, the one that it was to begin after."""
    has_more: bool
    positions: str
    beside: str = ""
    """JSON text of further fields of the answer, each with a comma before it."""


@dataclass(frozen=True, slots=True)
class Records:
    """`records`: JSON texts with commas between them."""

    records: str


@dataclass(frozen=True, slots=True)
class Text:
    """An object that is JSON text already."""

    json: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An object with its own HTTP status: the health check's 503."""

    status: int
    body: dict[str, Any]
