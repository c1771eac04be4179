"""A unit of work, from the view of an action."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol, TypeVar, cast

from wmsd.base import timestamps
from wmsd.base.clock import OrderedClock, SystemClock
from wmsd.base.ids import Ids, RandomIds
from wmsd.contract.context import PROGRAM, Actor
from wmsd.db.engine.sqlite import sqlite3

Parameters = Sequence[object] | Mapping[str, object]
Row = tuple[Any, ...]
Gathered = TypeVar("Gathered")
Provided = TypeVar("Provided")
Provision = Mapping[type, object]
"""What actions need from the installation besides the database, such as its key; by type."""

_Ends = dict[str, tuple[Callable[[Any], None], Any]]
AtCommit = dict[str, Callable[["Transaction"], None]]

LAST_CHANGE = "SELECT value FROM change_sequence"


class LineSql(Protocol):
    """Renders records as lines of a file."""

    def render(self, tx: "Transaction", record: Any) -> str:
        """The SQL of the line of a record (`RecordSql`)."""


class Transaction:
    """Runs statements inside one transaction. Its time stays fixed.

    `now` is the moment of BEGIN. `ordered_now` is the same, unless the clock has leapt far ahead: change sequences
    follow it.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        now: datetime,
        ordered_now: datetime,
        ids: Ids,
        actor: Actor,
        provision: Provision,
        at_commit: AtCommit | None = None,
    ) -> None:
        self._connection = connection
        self.now = now
        self.ordered_now = ordered_now
        self.ids = ids
        self.actor = actor
        self._provision = provision
        self.csv: LineSql | None = None
        """Has lists give lines of CSV in the place of records."""
        self.is_brief = False
        """Has lists give little for each field that can be large (`RecordSql.brief`)."""
        self.within: Sequence[int] | None = None
        """The ids among which lists are; None: among all."""
        self._last_change: int | None = None
        self._at_end: _Ends = {}
        self._at_last: _Ends = {}
        self.at_commit: AtCommit = {} if at_commit is None else at_commit
        """Functions by name that run once, before the commit, for all units that share it; even if one of these is
        rolled back.
        """

    @cached_property
    def timestamp(self) -> str:
        """`now` in the form in which records show a moment."""
        return timestamps.to_text(self.now)

    def service(self, kind: type[Provided]) -> Provided:
        """The object of this type that the installation provides."""
        return cast(Provided, self._provision[kind])

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Parameters]) -> int:
        """How many rows were changed in all."""
        if rows == []:  # a statement of no rows costs as much as one of a row
            return 0
        return self._connection.executemany(sql, rows).rowcount

    def row(self, sql: str, parameters: Parameters = ()) -> Row | None:
        found: Row | None = self._connection.execute(sql, parameters).fetchone()
        return found

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        return self._connection.execute(sql, parameters).fetchall()

    def define(self, name: str, function: Callable[[Any], str]) -> None:
        """Has SQL use a function of one argument that always gives the same for the same."""
        self._connection.create_function(name, 1, function, deterministic=True)

    def data_version(self) -> tuple[int, int]:
        """A value that changes when another connection commits. Each connection counts by itself."""
        return id(self._connection), self.value("PRAGMA data_version")

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row, or None when there is no row."""
        found = self._connection.execute(sql, parameters).fetchone()
        return None if found is None else found[0]

    def number(self, sql: str, parameters: Parameters = ()) -> int:
        """The first column of the first row, of a statement that always has one with an integer there."""
        row: tuple[int, ...] = self._connection.execute(sql, parameters).fetchone()
        return row[0]

    def text(self, sql: str, parameters: Parameters = ()) -> str:
        """As `number`, with a text there."""
        row: tuple[str, ...] = self._connection.execute(sql, parameters).fetchone()
        return row[0]

    def find_number(self, sql: str, parameters: Parameters = ()) -> int | None:
        """As `value`, of a column of integers."""
        row: tuple[int | None, ...] | None = self._connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def find_text(self, sql: str, parameters: Parameters = ()) -> str | None:
        """As `value`, of a column of texts."""
        row: tuple[str | None, ...] | None = self._connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def record(self, sql: str, parameters: Parameters = ()) -> dict[str, Any] | None:
        """The first row by column name."""
        cursor = self._connection.execute(sql, parameters)
        found = cursor.fetchone()
        return None if found is None else dict(zip(_names(cursor), found, strict=True))

    def records(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        cursor = self._connection.execute(sql, parameters)
        names = _names(cursor)
        return [dict(zip(names, found, strict=True)) for found in cursor]

    def insert(self, sql: str, parameters: Parameters = ()) -> int:
        """The id of the row that the statement inserts."""
        identity = self._connection.execute(sql, parameters).lastrowid
        assert identity is not None
        return identity

    def bytes_used(self) -> int:
        """The bytes that the file uses, without free pages."""
        pages = self.number("PRAGMA page_count") - self.number("PRAGMA freelist_count")
        return pages * self.number("PRAGMA page_size")

    def last_change(self) -> int:
        """The last value of the company's change sequence."""
        return self.number(LAST_CHANGE) if self._last_change is None else self._last_change

    def next_changes(self, count: int) -> range:
        """So many new values of the company's change sequence.

        A hybrid logical clock (Kulkarni et al., 2014): microseconds since 1970, but always greater than every
        value given before, and in a later millisecond than those of earlier units of work. So "changed after this
        moment" is a comparison of values, and stays right when the wall clock is set back.
        """
        if self._last_change is None:
            self._last_change = self.last_change() // 1000 * 1000 + 999
            self.at_last("last change", self._keep_last_change, int)
        millisecond = timestamps.microseconds(self.ordered_now) // 1000 * 1000
        first = max(millisecond, self._last_change + 1)
        self._last_change = first + count - 1
        return range(first, first + count)

    def _keep_last_change(self, _: int) -> None:
        self.execute("UPDATE change_sequence SET value = ?", (self._last_change,))
        self._last_change = None

    def at_end(self, name: str, run: Callable[[Gathered], None], start: Callable[[], Gathered]) -> Gathered:
        """What the unit of work has gathered under `name`, begun by `start`. `run` gets it once, when the action
        has returned.
        """
        return _gathered(self._at_end, name, run, start)

    def at_last(self, name: str, run: Callable[[Gathered], None], start: Callable[[], Gathered]) -> Gathered:
        """As `at_end`, but it runs after everything there, which may still add to it."""
        return _gathered(self._at_last, name, run, start)

    def finish(self) -> None:
        """Runs the functions of `at_end` and `at_last`. The unit of work calls it; an action does not."""
        while self._at_end or self._at_last:
            _, (run, gathered) = (self._at_end or self._at_last).popitem()
            run(gathered)


def lone_transaction(connection: sqlite3.Connection, who: Actor = PROGRAM) -> Transaction:
    """A transaction of a file that this command alone uses, by the clock of the machine."""
    clock = OrderedClock(SystemClock())
    return Transaction(connection, clock.now(), clock.ordering(), RandomIds(), who, {})


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[Transaction]:
    """A transaction that reads one state. The connection is closed at its end. Raises sqlite3.Error."""
    with closing(connection):
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield lone_transaction(connection)


def _gathered(ends: _Ends, name: str, run: Callable[[Gathered], None], start: Callable[[], Gathered]) -> Gathered:
    if name not in ends:
        ends[name] = (run, start())
    gathered: Gathered = ends[name][1]
    return gathered


def _names(cursor: sqlite3.Cursor) -> list[str]:
    return [column[0] for column in cursor.description]
