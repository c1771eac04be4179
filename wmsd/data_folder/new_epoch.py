"""The start of an epoch in a company's file that is restored, imported or copied (decisions, section 11).

No number is used twice: a client that has seen event 120 must not see a second event 120, or a second order with
the code SO-000007. Therefore the new numbers follow the last numbers of the replaced file. If these are not known,
wmsd skips many numbers.

Every record gets a new position in the sequence of changes, later than all earlier positions. Therefore clients
that request changes, by cursor or by `updated_since`, read all records once more.
"""

import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.data_folder.numbers import CHANGES, LAST_CHANGE, ORDERED, SEQUENCES, SERIES, SUBSCRIPTIONS, Numbers
from wmsd.db.engine.sqlite import sole_transaction, sqlite3
from wmsd.db.migrations import COMPANY, migrate
from wmsd.db.sql.change_sequence import updated_at_sql
from wmsd.db.sql.epochs import HISTORIES

LEAST_LEAP: Final = 10_000
FACTOR: Final = 10
"""wmsd skips at least this many times the estimated number of missing events (see `Leap`)."""
SHORTEST_SPAN: Final = timedelta(minutes=1)

BEGIN_EPOCH: Final = """
    INSERT INTO epochs (number, name, reason, began_at, kept_up_to)
    SELECT max(number) + 1, (max(number) + 1) || '-' || :suffix, :reason, :began_at, :kept_up_to FROM epochs
    RETURNING number
"""
NUMBERED: Final = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' ORDER BY name"
)
NOTE_SEAM: Final = """
    INSERT INTO seams (numbers, epoch, last, next)
    SELECT :numbers, :epoch,
        coalesce((SELECT min(last) FROM seams WHERE numbers = :numbers AND next = :last + 1), :last), :next
"""
"""Stores a seam: a gap in a sequence of numbers. A seam has the last number before an epoch, and the first number
in the epoch. If the previous epoch has used no number, the new seam also covers the gap before the previous epoch.
"""
SET_SEQUENCE: Final = "UPDATE sqlite_sequence SET seq = :value WHERE name = :name"
ADD_SEQUENCE: Final = "INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :value)"
SET_SERIES: Final = """
    INSERT INTO series (name, last) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET last = :value
"""
SET_SUBSCRIPTION: Final = "UPDATE webhook_subscriptions SET last_sequence = :value WHERE id = :name"
BUSIEST: Final = """
    SELECT coalesce(max(events), 0)
    FROM (SELECT count(*) AS events FROM events GROUP BY unixepoch(occurred_at) / :seconds)
"""
COVERED: Final = (
    "SELECT count(*), coalesce(unixepoch(max(occurred_at)) - unixepoch(min(occurred_at)), 0) FROM events"
)

PLACES: Final = """
    INSERT INTO temp.places (old, place)
    SELECT change_seq, :last + row_number() OVER (ORDER BY change_seq) FROM ({every})
"""
MOVE: Final = f"""
    UPDATE {{table}} SET change_seq = place, updated_at = {updated_at_sql("place")}
    FROM temp.places WHERE old = change_seq
"""
MOVE_IMPORTS: Final = """
    UPDATE imports SET last_change = coalesce((SELECT max(place) FROM temp.places WHERE old <= last_change), :last)
"""
"""Updates the position that each import has stored. wmsd uses this position to find the records that were changed
after the import.
"""
NOTE_MOVE: Final = """
    INSERT INTO seams (numbers, epoch, last, next)
    SELECT :numbers, :epoch, :last, value + 1 FROM change_sequence
"""
"""Stores a seam for the positions of changes. Its gap covers the new positions that `_move_records` has given to
records, because no change was made at these positions.
"""
SET_CHANGE: Final = "UPDATE change_sequence SET value = coalesce((SELECT max(place) FROM temp.places), :last)"


class Missing(NamedTuple):
    """The events and changes that the replaced file contained and the restored file does not contain."""

    events: int
    first_event: int
    last_event: int
    last_change: str | None
    """The time of the last change in the replaced file. None if the restored file contains this change too."""


def begin_epoch(
    path: Path, reason: str, known: Numbers, as_of: datetime | None = None, is_copy: bool = False
) -> Missing | None:
    """Begin an epoch in a file that no process has open. New numbers continue after `known`, the numbers used so
    far.

    `as_of` is the time up to which the file is complete, if that is known. Pass `is_copy=True` if the file belongs
    to a new company, of which no client has read anything.

    Return the events and changes that are in `known` but missing in the file, or None if nothing is missing. Raise
    StorageError or sqlite3.Error if the epoch cannot begin. The file may then have been migrated, but is otherwise
    unchanged.
    """
    migrate(path, COMPANY)
    now = datetime.now(UTC)
    with sole_transaction(path) as connection:
        [(last_change,)] = connection.execute(LAST_CHANGE)
        kept_up_to = timestamps.from_microseconds(last_change)
        if as_of is not None:
            kept_up_to = max(kept_up_to, timestamps.to_text(as_of))
        last_event = dict(connection.execute(SEQUENCES)).get("events", 0)
        leap = None if known.is_complete else Leap(connection, kept_up_to, now, known.last_event)
        epoch = {
            "suffix": secrets.token_hex(4),
            "reason": reason,
            "began_at": timestamps.to_text(now),
            "kept_up_to": kept_up_to,
        }
        [(number,)] = connection.execute(BEGIN_EPOCH, epoch).fetchall()
        _pass_over(connection, number, known, leap)
        if not is_copy:
            _move_records(connection, max(last_change, known.last_change, timestamps.microseconds(now)))
            connection.execute(NOTE_MOVE, {"numbers": CHANGES, "epoch": number, "last": last_change})
    return _missing(known, last_event, last_change)


def _missing(known: Numbers, last_event: int, last_change: int) -> Missing | None:
    later = known.newest_change > last_change
    if not later and known.newest_event <= last_event:
        return None
    return Missing(
        max(0, known.newest_event - last_event),
        last_event + 1,
        known.newest_event,
        timestamps.from_microseconds(known.newest_change) if later else None,
    )


class Leap:
    """How many numbers to skip in each sequence, if it is not known which numbers the replaced file had used.

    The missing period is the time from the last known change until now. To estimate how many events it had, wmsd
    searches the file for a period of equal length with the most events. The gap is at least ten times the number
    of these events.
    """

    def __init__(self, connection: sqlite3.Connection, kept_up_to: str, now: datetime, known_event: int) -> None:
        """Estimate how many events are missing. This number decides how many numbers to skip.

        `kept_up_to` is the time of the last known change, and `known_event` the highest known number of an event.
        """
        span = max(now - timestamps.from_text(kept_up_to), SHORTEST_SPAN).total_seconds()
        count, covered = connection.execute(COVERED).fetchone()
        busiest: float = connection.execute(BUSIEST, {"seconds": int(span)}).fetchone()[0]
        if span > covered:  # the file covers less time than is missing
            busiest = count * span / max(covered, SHORTEST_SPAN.total_seconds())
        self._events = dict(connection.execute(SEQUENCES)).get("events", 0)
        busiest = max(busiest, known_event - self._events)
        self._least = 2 * FACTOR * busiest  # twice, because a period may overlap two of the counted ones

    def of(self, given: int) -> int:
        """Return how many numbers to skip in one sequence. `given` is the highest number of this sequence that is
        known to be used.
        """
        for_each_event: float = max(given / max(self._events, 1), 1)
        return max(LEAST_LEAP, int(self._least * for_each_event))


def _pass_over(connection: sqlite3.Connection, epoch: int, known: Numbers, leap: Leap | None) -> None:
    """Let each sequence of numbers continue after all numbers that may already be used.

    Store a seam for each sequence in which numbers are skipped. For the tables in `HISTORIES`, always store a
    seam, because it shows where the epoch begins.
    """
    from wmsd.warehouse.document_kinds import (
        SERIES_NAMES,  # imported here, because few commands need all kinds of documents
    )

    def go_on(numbers: str, name: str | int, last: int, known_last: int, statement: str) -> None:
        """Let one sequence continue after all numbers that may already be used, and store its seam.

        - `numbers` is the name of the sequence in the table `seams`.
        - `last` is the last number in the file.
        - `known_last` is the last number that is known to be used.
        - `statement` stores the new last number. Its parameter `name` is the name or id of the sequence.
        """
        given = max(last, known_last)
        following = given + (0 if leap is None else leap.of(given)) + 1
        is_passed_over = following > last + 1
        if is_passed_over or numbers in HISTORIES:
            values = {"numbers": numbers, "epoch": epoch, "last": last, "next": following}
            connection.execute(NOTE_SEAM, values)
        if is_passed_over:
            connection.execute(statement, {"name": name, "value": following - 1})

    sequences: dict[str, int] = dict(connection.execute(SEQUENCES))
    for (table,) in connection.execute(NUMBERED).fetchall():
        statement = SET_SEQUENCE if table in sequences else ADD_SEQUENCE
        go_on(table, table, sequences.get(table, 0), known.sequences.get(table, 0), statement)
    series: dict[str, int] = dict(connection.execute(SERIES))
    for name in dict.fromkeys((*SERIES_NAMES, *series)):
        go_on(f"series {name}", name, series.get(name, 0), known.series.get(name, 0), SET_SERIES)
    known_last = {(identity, created_at): last for identity, created_at, last in known.subscriptions}
    for identity, created_at, last in connection.execute(SUBSCRIPTIONS).fetchall():
        numbers = f"webhook_subscriptions/{identity}"
        go_on(numbers, identity, last, known_last.get((identity, created_at), 0), SET_SUBSCRIPTION)


def _move_records(connection: sqlite3.Connection, last: int) -> None:
    """Give every record a new position after `last`. The order of the records does not change."""
    last = last // 1000 * 1000 + 999  # the next millisecond: a record shows the millisecond of its position
    tables = [table for (table,) in connection.execute(ORDERED).fetchall()]
    connection.execute("CREATE TEMP TABLE places (old INTEGER PRIMARY KEY, place INTEGER NOT NULL)")
    every = " UNION ".join(f"SELECT change_seq FROM {table}" for table in tables)
    connection.execute(PLACES.format(every=every), {"last": last})
    for table in tables:
        connection.execute(MOVE.format(table=table))
    connection.execute(MOVE_IMPORTS, {"last": last})
    connection.execute(SET_CHANGE, {"last": last})
    connection.execute("DROP TABLE temp.places")
