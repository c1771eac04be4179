"""The results of actions. Records are texts in JSON, which SQLite renders (see `db/sql/records.py`)."""

from collections.abc import Sequence
from typing import Any

from wmsd.base.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    id: int
    json: str
    is_new: bool = True
    """False if a creating operation found that the record already existed."""
    name: str | None = None
    """The last part of the record's URL path, or None if the last part is the id."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list. `records` are JSON texts with commas between them."""

    records: str
    total: int
    ids: Sequence[int] = ()
    """Empty if `records` contains the whole page. If the page is too large to be read at once, `records` has only
    its first records, and `ids` has the ids of all its records, in order.
    """
    number: int = 0
    """The number of records in `records`."""


@dataclass(frozen=True, slots=True)
class CursorPage:
    """A page of a list by cursor. `records` are JSON texts with commas between them.

    `positions` are the positions of these records in the list's order, also with commas between them.
    """

    records: str
    end_position: int
    """The position after which the next page begins. This is usually the position of the last record. For an empty
    page, it is usually the position in the request's cursor.
    """
    has_more: bool
    positions: str
    beside: str = ""
    """Additional fields of the answer, as JSON text. A comma precedes each field."""


@dataclass(frozen=True, slots=True)
class Records:
    """The records of an answer that has no pages. `records` are JSON texts with commas between them."""

    records: str


@dataclass(frozen=True, slots=True)
class Text:
    """An answer that consists of one object. `json` is its JSON text, which is sent unchanged."""

    json: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer that consists of one object, with an HTTP status other than 200, such as the 503 of the health
    check.
    """

    status: int
    body: dict[str, Any]
