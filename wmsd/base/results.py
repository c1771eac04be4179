"""What an action hands back. Records are JSON texts: SQLite renders them (see `db/record.py`)."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    id: int
    json: str
    is_new: bool = True
    """Of what creates: False where the record was there before."""
    name: str | None = None
    """What its address ends with, where that is not the id."""


@dataclass(frozen=True, slots=True)
class Page:
    """`records`: JSON texts with commas between them."""

    records: str
    total: int
    is_cut: bool = False
    """Whether it ends early, since its records are too large for one answer."""


@dataclass(frozen=True, slots=True)
class CursorPage:
    """`records`: JSON texts with commas between them; `positions`: their places in the order, in the same way."""

    records: str
    next_position: int | None
    positions: str


@dataclass(frozen=True, slots=True)
class Records:
    """`records`: JSON texts with commas between them."""

    records: str


@dataclass(frozen=True, slots=True)
class Text:
    """An object that is JSON already."""

    json: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An object with a status of its own: the health check's 503."""

    status: int
    body: dict[str, Any]
