"""The numbers that a company's file has used: ids, codes, events, webhook deliveries, and positions in the order
of changes.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.replaced_files import newest_copy
from wmsd.db.engine.sqlite import connect_leaving_nothing, sqlite3

SEQUENCES: Final = "SELECT name, seq FROM sqlite_sequence"
SERIES: Final = "SELECT name, last FROM series"
LAST_CHANGE: Final = "SELECT value FROM change_sequence"
NEWEST_EVENT: Final = "SELECT coalesce(max(sequence), 0) FROM events"
ORDERED: Final = """
    SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND columns.name = 'change_seq' ORDER BY tables.name
"""
"""The statement that lists the tables whose records have a position in the order of changes."""
CHANGES: Final = "changes"
"""The name under which the table `seams` stores gaps in the positions of changes."""
LAST_MOVE: Final = "SELECT last, next FROM seams WHERE numbers = ? ORDER BY epoch DESC LIMIT 1"
HIGHEST_IDS: Final = """
    SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND columns.name = 'id' AND columns.pk = 1 AND columns.type = 'INTEGER'
"""
SUBSCRIPTIONS: Final = "SELECT id, created_at, last_sequence FROM webhook_subscriptions"


class Numbers(NamedTuple):
    """The last numbers that a file has used. `sequences` has the last id of each table, and `series` the last
    number of each series of codes, by name.
    """

    sequences: dict[str, int]
    series: dict[str, int]
    last_change: int
    subscriptions: list[tuple[int, str, int]]
    """For each webhook subscription: its id, the time of its creation, and the number of its last webhook
    delivery.
    """
    newest_event: int
    newest_change: int
    """The position of the last change that the file contains. `newest_event` is the number of the last event in
    it.

    A restore skips numbers. After a restore, `last_event` and `last_change` are therefore higher than these two
    values. The difference is no new loss of data: wmsd has already reported what the restore has lost.
    """
    is_complete: bool
    """True if these are all numbers that the file has used. False if the file could not be read completely, or if
    the high-water mark shows that more numbers were used.
    """

    @property
    def last_event(self) -> int:
        return self.sequences.get("events", 0)


NOTHING_KNOWN: Final = Numbers({}, {}, 0, [], 0, 0, is_complete=False)


def read_numbers(path: Path) -> Numbers | None:
    """Return the numbers of a company's file. If the file is damaged, return the numbers that can be read.

    Return None if no number can be read.
    """
    try:
        with closing(connect_leaving_nothing(path)) as connection:
            connection.execute("BEGIN")
            return _numbers_in(connection)
    except sqlite3.Error:
        return None


def _numbers_in(connection: sqlite3.Connection) -> Numbers | None:
    """Return the numbers in the file, or None if no number can be read.

    Each part is read separately, because damage may affect only one of them.
    """
    found: dict[str, Any] = {}
    parts: dict[str, Callable[[sqlite3.Connection], Any]] = {
        "sequences": _last_ids,
        "series": lambda of: dict(of.execute(SERIES)),
        "last_change": lambda of: int(of.execute(LAST_CHANGE).fetchone()[0]),
        "subscriptions": lambda of: list(of.execute(SUBSCRIPTIONS)),
        "newest_event": lambda of: int(of.execute(NEWEST_EVENT).fetchone()[0]),
        "newest_change": _newest_change,
    }
    for name, read in parts.items():
        with suppress(sqlite3.Error, TypeError, ValueError):
            found[name] = read(connection)
    return NOTHING_KNOWN._replace(**found, is_complete=len(found) == len(parts)) if found else None


def _last_ids(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the last id of each table, as SQLite records it.

    SQLite does not record this id for some tables of older schemas. For these, return the highest id in the table.
    """
    noted: dict[str, int] = dict(connection.execute(SEQUENCES))
    others = [table for (table,) in connection.execute(HIGHEST_IDS).fetchall() if table not in noted]
    return noted | {
        table: connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0] for table in others
    }


def _newest_change(connection: sqlite3.Connection) -> int:
    newest = [
        connection.execute(f"SELECT coalesce(max(change_seq), 0) FROM {table}").fetchone()[0]
        for (table,) in connection.execute(ORDERED).fetchall()
    ]
    found = max(newest, default=0)
    with suppress(sqlite3.Error):  # a file of an older schema has no such table
        for last, first in connection.execute(LAST_MOVE, (CHANGES,)):
            return found if found >= first else int(last)
    return found


def numbers_of(replaced: Path, mark: HighWaterMark | None) -> Numbers:
    """Return the numbers that a replaced file has used, as far as the file and its high-water mark `mark` show
    them.

    If the file no longer exists, read the newest copy of it that wmsd has saved.
    """
    place = replaced if replaced.exists() else newest_copy(replaced)
    known = (None if place is None else read_numbers(place)) or NOTHING_KNOWN
    if mark is None:
        return known
    if known.last_event < mark.last_event:
        known = known._replace(newest_event=mark.last_event, newest_change=mark.last_change)
    return numbers_up_to(known, mark)


def numbers_up_to(known: Numbers, mark: HighWaterMark) -> Numbers:
    """Return `known`, the numbers of a file, but at least as high as its high-water mark.

    If a number in `known` is below the mark, the file is an older copy or incomplete. In that case, `is_complete`
    of the result is False.
    """
    is_behind = known.last_event < mark.last_event or known.last_change < mark.last_change
    return known._replace(
        sequences={**known.sequences, "events": max(known.last_event, mark.last_event)},
        last_change=max(known.last_change, mark.last_change),
        is_complete=known.is_complete and not is_behind,
    )
