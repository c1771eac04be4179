"""A unit of work, as an action sees it."""

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
"""Objects that the installation provides to actions in addition to the database, such as its key. Each key of the
dict is the type of the object.
"""

_Ends = dict[str, tuple[Callable[[Any], None], Any]]
AtCommit = dict[str, Callable[["Transaction"], None]]

LAST_CHANGE = "SELECT value FROM change_sequence"


class LineSql(Protocol):
    """A converter of records to lines of a file."""

    def render(self, tx: "Transaction", record: Any) -> str:
        """Return the SQL that selects the line of a record. `record` is a `RecordSql`."""


class Transaction:
    """A transaction in which an action runs SQL statements.

    `now` is the time of BEGIN, and does not change. Positions in the change sequence are derived from
    `ordered_now`. It equals `now`, unless the clock has jumped far ahead.
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
        """If set, lists return lines of CSV instead of records."""
        self.is_brief = False
        """True if lists return a short form of large fields (see `RecordSql.brief`)."""
        self.needed_fields: frozenset[str] | None = None
        """If set, lists may leave out other fields of their records (see `RecordSql.with_needed`)."""
        self.within: Sequence[int] | None = None
        """If set, lists contain only the records with these ids."""
        self._last_change: int | None = None
        self._at_end: _Ends = {}
        self._at_last: _Ends = {}
        self.at_commit: AtCommit = {} if at_commit is None else at_commit
        """Functions that run directly before the commit, by name. Each runs only once, because units of work in
        the same commit share this dict. A function runs even if the unit of work that added it was rolled back.
        """

    @cached_property
    def timestamp(self) -> str:
        """`now` as text, in the form of the times in records."""
        return timestamps.to_text(self.now)

    def service(self, kind: type[Provided]) -> Provided:
        """Return the object of this type that the installation provides."""
        return cast(Provided, self._provision[kind])

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Parameters]) -> int:
        """Run the statement for each row, and return the total number of changed rows."""
        if rows == []:  # a statement without rows costs as much as one with a row
            return 0
        return self._connection.executemany(sql, rows).rowcount

    def row(self, sql: str, parameters: Parameters = ()) -> Row | None:
        found: Row | None = self._connection.execute(sql, parameters).fetchone()
        return found

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        return self._connection.execute(sql, parameters).fetchall()

    def define(self, name: str, function: Callable[[Any], str]) -> None:
        """Add a SQL function with one argument. Its result must depend on the argument only."""
        self._connection.create_function(name, 1, function, deterministic=True)

    def data_version(self) -> tuple[int, int]:
        """Return a value that changes when another connection commits. Compare only values from the same
        connection.
        """
        return id(self._connection), self.value("PRAGMA data_version")

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Return the first column of the first row, or None if there is no row."""
        found = self._connection.execute(sql, parameters).fetchone()
        return None if found is None else found[0]

    def number(self, sql: str, parameters: Parameters = ()) -> int:
        """Return the first column of the first row. The column must always contain an integer."""
        row: tuple[int, ...] = self._connection.execute(sql, parameters).fetchone()
        return row[0]

    def text(self, sql: str, parameters: Parameters = ()) -> str:
        """Return the first column of the first row. The column must always contain a text."""
        row: tuple[str, ...] = self._connection.execute(sql, parameters).fetchone()
        return row[0]

    def find_number(self, sql: str, parameters: Parameters = ()) -> int | None:
        """Return the first column of the first row as an integer, or None if there is no row."""
        row: tuple[int | None, ...] | None = self._connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def find_text(self, sql: str, parameters: Parameters = ()) -> str | None:
        """Return the first column of the first row as a text, or None if there is no row."""
        row: tuple[str | None, ...] | None = self._connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def record(self, sql: str, parameters: Parameters = ()) -> dict[str, Any] | None:
        """Return the first row by column name, or None if there is no row."""
        cursor = self._connection.execute(sql, parameters)
        found = cursor.fetchone()
        return None if found is None else dict(zip(_names(cursor), found, strict=True))

    def records(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        cursor = self._connection.execute(sql, parameters)
        names = _names(cursor)
        return [dict(zip(names, found, strict=True)) for found in cursor]

    def insert(self, sql: str, parameters: Parameters = ()) -> int:
        """Run the statement, and return the id of the row that it inserts."""
        identity = self._connection.execute(sql, parameters).lastrowid
        assert identity is not None
        return identity

    def bytes_used(self) -> int:
        """Return how many bytes of the file are in use. Free pages are not included."""
        pages = self.number("PRAGMA page_count") - self.number("PRAGMA freelist_count")
        return pages * self.number("PRAGMA page_size")

    def last_change(self) -> int:
        """Return the last value of the company's change sequence."""
        return self.number(LAST_CHANGE) if self._last_change is None else self._last_change

    def next_changes(self, count: int) -> range:
        """Return `count` new values of the company's change sequence.

        The sequence is a hybrid logical clock (Kulkarni et al., 2014): microseconds since 1970, but always greater
        than all earlier values. Each unit of work gets values in a later millisecond than all earlier values.
        Therefore wmsd can find what changed after a given time by comparing values, even if the wall clock was set
        back.
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
        """Return an object in which the unit of work collects data under `name`. The first call creates it with
        `start`.

        When the action has returned, `run` is called once with the object.
        """
        return _gathered(self._at_end, name, run, start)

    def at_last(self, name: str, run: Callable[[Gathered], None], start: Callable[[], Gathered]) -> Gathered:
        """Return an object as `at_end` does, but call its `run` later, after the functions of `at_end`. So these
        functions can still add data to the object.
        """
        return _gathered(self._at_last, name, run, start)

    def finish(self) -> None:
        """Call the functions `run` of `at_end` and `at_last`. Only the unit of work calls this method, never an
        action.
        """
        while self._at_end or self._at_last:
            _, (run, gathered) = (self._at_end or self._at_last).popitem()
            run(gathered)


def lone_transaction(connection: sqlite3.Connection, who: Actor = PROGRAM) -> Transaction:
    """Return a transaction of a file that only this command uses. Its clock is the machine's clock."""
    clock = OrderedClock(SystemClock())
    return Transaction(connection, clock.now(), clock.ordering(), RandomIds(), who, {})


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[Transaction]:
    """Yield a read-only transaction. All its reads see the same snapshot of the file.

    The connection is closed at the end. Raise sqlite3.Error if the transaction cannot begin.
    """
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
