"""Joins the records of a SELECT to one text, and limits the size of a page.

SQLite joins the records, so that a statement returns a single row. Python releases its lock for each row that it
fetches. For fifty rows, this takes longer than reading the records.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from wmsd.base.problems import Problem
from wmsd.contract.results import Records
from wmsd.db.engine.transaction import Transaction

TOO_LARGE: Final = "The records are too large for one answer. Request fewer records."
LARGEST_PAGE: Final = 4_000_000
"""The maximum size of a page in bytes."""
STATEMENTS: Final = 256
"""The number of cached SQL statements. Composing a long statement takes as long as reading a few rows."""


class Joined(NamedTuple):
    """Records as one text, joined with commas (JSON) or line breaks (CSV).

    `number` is the number of records, and `last` is the position of the last one. `positions` has the positions of
    all records, joined with commas.
    """

    records: str
    last: int
    number: int
    positions: str
    is_cut: bool = False
    """True if some of the requested records are left out because of their size."""

    @property
    def size(self) -> int:
        """The size of the records in bytes."""
        return len(self.records) if self.records.isascii() else len(self.records.encode())


def in_parts(ids: Sequence[int], at_once: int, read: Callable[[Sequence[int]], str | None]) -> Records:
    """Read the records with these ids in several reads of at most `at_once` records. Return all of them together.

    `read` returns the records with the given ids as text. Raise Problem (413) if all records together are too
    large.
    """
    found: list[str] = []
    for start in range(0, len(ids), at_once):
        found.append(read(ids[start : start + at_once]) or "")
        if sum(map(len, found)) > LARGEST_PAGE:
            raise Problem("VALIDATION_FAILED", TOO_LARGE, status=413)
    return Records(",".join(filter(None, found)))


def number_that_fits(records: Sequence[str]) -> int:
    """Return how many of the records fit on a page: at least one, if there are any."""
    end = 0
    for number, record in enumerate(records):
        end += len(record.encode()) + 1
        if number and end > LARGEST_PAGE:
            return number
    return len(records)


@lru_cache(STATEMENTS)
def _aggregate(chosen: str) -> str:
    """Return a SELECT that joins the records of the SELECT `chosen` and returns one row. The columns of this row
    are the first four fields of `Joined`.

    SQLite does not promise to join the records in the order of `chosen`. Therefore the version of SQLite is
    pinned, and the tests of every list check the order.
    """
    columns = "group_concat(record, :separator), max(place), count(*), group_concat(place, ',')"
    return f"SELECT {columns} FROM ({chosen})"


def read_joined(tx: Transaction, chosen: str, parameters: Mapping[str, object]) -> Joined:
    """Read the records of the SELECT `chosen` as a single row."""
    row = tx.row(_aggregate(chosen), parameters)
    assert row is not None
    return Joined(row[0] or "", row[1] or 0, row[2], row[3] or "")


def cut_to(
    tx: Transaction, chosen: str, parameters: Mapping[str, object], some: Joined, room: int, is_first: bool
) -> Joined:
    """Return as many records of `some` as fit into `room` bytes. If `is_first` is True, return at least one.
    `chosen` is the SELECT that has read `some`, and `parameters` are its parameters.
    """
    text = some.records.encode()
    places = some.positions.split(",")
    sizes = tx.value(f"SELECT group_concat(octet_length(record), ',') FROM ({chosen})", parameters).split(",")
    end = number = 0
    for size in map(int, sizes):
        beyond = end + size + (len(str(parameters["separator"])) if number else 0)
        if beyond > room and (number > 0 or not is_first):
            break
        end, number = beyond, number + 1
    last = int(places[number - 1]) if number else 0
    return Joined(text[:end].decode(), last, number, ",".join(places[:number]), number < some.number)


def together(found: list[Joined], separator: str) -> Joined:
    if len(found) == 1:
        return found[0]
    if not found:
        return Joined("", 0, 0, "")
    records = separator.join(each.records for each in found)
    positions = ",".join(each.positions for each in found)
    return Joined(records, found[-1].last, sum(each.number for each in found), positions)
