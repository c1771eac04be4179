"""What a restored file takes over from the file that it replaces, so that nothing that was given out is given
again.

Whoever has seen event 120 must not meet another event 120, nor another order SO-000007. So the numbers go on
where the replaced file had come to, and what it has shut out stays shut out. What was written after the
backup is missing all the same, and `Missing` says how much that is.
"""

import json
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.db.high_water import HighWaterMark
from wmsd.db.removed_files import newest_copy
from wmsd.db.sqlite import connect, connect_as_it_is, log_bytes, sqlite3

SEQUENCES: Final = "SELECT name, seq FROM sqlite_sequence"
SERIES: Final = "SELECT name, last FROM series"
LAST_CHANGE: Final = "SELECT value FROM change_sequence"
NEWEST_EVENT: Final = "SELECT coalesce(max(sequence), 0) FROM events"
ORDERED: Final = """
    SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND columns.name = 'change_seq'
"""
SUBSCRIPTIONS: Final = "SELECT id, created_at, last_sequence FROM webhook_subscriptions"

RAISE_SEQUENCE: Final = "UPDATE sqlite_sequence SET seq = max(seq, :value) WHERE name = :name"
ADD_SEQUENCE: Final = """
    INSERT INTO sqlite_sequence (name, seq)
    SELECT :name, :value
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name)
"""
RAISE_SERIES: Final = """
    INSERT INTO series (name, last) VALUES (:name, :value)
    ON CONFLICT (name) DO UPDATE SET last = max(last, :value)
"""
RAISE_CHANGE: Final = "UPDATE change_sequence SET value = max(value, ?)"
RAISE_SUBSCRIPTION: Final = """
    UPDATE webhook_subscriptions SET last_sequence = max(last_sequence, ?) WHERE id = ? AND created_at = ?
"""

JUMP: Final = 10_000
"""More than a box writes in the seconds that a replica is behind."""
JUMPS: Final = {
    "sqlite_sequence": "UPDATE sqlite_sequence SET seq = seq + :jump",
    "series": "UPDATE series SET last = last + :jump",
    "change_sequence": "UPDATE change_sequence SET value = max(value, :now)",
    "webhook_subscriptions": "UPDATE webhook_subscriptions SET last_sequence = last_sequence + :jump",
}
"""By table."""
TABLES: Final = "SELECT name FROM sqlite_schema WHERE type = 'table'"

SHUT_OUT: Final = {
    "token": (
        "SELECT revoked_at, jti FROM tokens WHERE revoked_at IS NOT NULL",
        "UPDATE tokens SET revoked_at = ? WHERE jti = ? AND revoked_at IS NULL",
    ),
    "platform token": (
        "SELECT revoked_at, hash FROM kernel_tokens WHERE revoked_at IS NOT NULL",
        "UPDATE kernel_tokens SET revoked_at = ? WHERE hash = ? AND revoked_at IS NULL",
    ),
    "user": (
        "SELECT disabled_at, id, email FROM users WHERE disabled_at IS NOT NULL",
        "UPDATE users SET disabled_at = ? WHERE id = ? AND email = ? AND disabled_at IS NULL",
    ),
    "site": (
        "SELECT id, created_at FROM sites WHERE token_hash IS NULL",
        "UPDATE sites SET token_hash = NULL, previous_token_hash = NULL, previous_expires_at = NULL "
        "WHERE id = ? AND created_at = ? AND token_hash IS NOT NULL",
    ),
}
"""By what it is: who is shut out in the replaced file, and what shuts them out in the restored one."""

DELETED: Final = """
    SELECT at, action, subject, details FROM audit
    WHERE action IN ('user.delete', 'user.change') AND id > ? ORDER BY id DESC
"""
LAST_AUDITED: Final = "SELECT coalesce(max(id), 0) FROM audit"
USERS: Final = "SELECT id, email FROM users ORDER BY email"
DISABLE: Final = "UPDATE users SET disabled_at = ? WHERE id = ? AND disabled_at IS NULL"


class Numbers(NamedTuple):
    """How far a file has come. `sequences` are those of SQLite, by table."""

    sequences: dict[str, int]
    series: dict[str, int]
    last_change: int | None
    subscriptions: list[tuple[int, str, int]]
    """Their ids, when they were made, and the number of the last delivery."""
    newest_event: int
    newest_change: int
    """Of what is in the file. After a restore the numbers are ahead of it: that loss was told then."""

    @property
    def last_event(self) -> int:
        return self.sequences.get("events", 0)


class ShutOut(NamedTuple):
    """Whom a restored platform.db shuts out because the replaced one did."""

    counts: dict[str, int]
    """Of those that were revoked or disabled since the backup, by what they are."""
    deleted: list[str]
    """The e-mail addresses of users that were deleted since the backup: they are back."""
    gone: list[str]
    """The e-mail addresses of users that were made since the backup: they are not in it."""
    is_known: bool = True
    """Whether the replaced file could be read to its end. Otherwise it may have shut out others too."""


class Missing(NamedTuple):
    """What the replaced file had, and the restored one has not."""

    events: int
    first_event: int
    last_event: int
    last_change: str | None
    """When the replaced file was last changed; None when the restored one has that change too."""


def read_numbers(path: Path) -> Numbers | None:
    """The numbers of a company's file, in whatever state it is; None when they cannot be read."""
    try:
        with closing(_opened(path)) as connection:
            connection.execute("BEGIN")
            return Numbers(
                dict(connection.execute(SEQUENCES)),
                dict(connection.execute(SERIES)),
                connection.execute(LAST_CHANGE).fetchone()[0],
                list(connection.execute(SUBSCRIPTIONS)),
                connection.execute(NEWEST_EVENT).fetchone()[0],
                _newest_change(connection),
            )
    except (sqlite3.Error, TypeError, ValueError):
        return None


def _newest_change(connection: sqlite3.Connection) -> int:
    newest = [
        connection.execute(f"SELECT coalesce(max(change_seq), 0) FROM {table}").fetchone()[0]
        for (table,) in connection.execute(ORDERED).fetchall()
    ]
    return max(newest, default=0)


def numbers_of(replaced: Path, mark: HighWaterMark | None) -> Numbers | None:
    """How far a replaced file has come: as it says itself, or what was kept of it when somebody removed it, or as
    far as is known otherwise. None: nobody knows.
    """
    place = replaced if replaced.exists() else newest_copy(replaced)
    found = None if place is None else read_numbers(place)
    if mark is None:
        return found
    known = found or Numbers({}, {}, None, [], 0, 0)
    if known.last_event < mark.last_event:  # it is not the file that was written here last, or not all of it
        known = known._replace(newest_event=mark.last_event, newest_change=mark.last_change)
    return known._replace(
        sequences={**known.sequences, "events": max(known.last_event, mark.last_event)},
        last_change=max(known.last_change or 0, mark.last_change),
    )


def carry_on(restored: Path, numbers: Numbers) -> Missing | None:
    """Raises the numbers of a restored company's file to these. None when nothing is missing. Raises
    sqlite3.Error.
    """
    with closing(connect(restored)) as connection:
        before_change = connection.execute(LAST_CHANGE).fetchone()[0]
        before_event = dict(connection.execute(SEQUENCES)).get("events", 0)
        connection.execute("BEGIN IMMEDIATE")
        for name, value in numbers.sequences.items():
            for statement in (RAISE_SEQUENCE, ADD_SEQUENCE):
                connection.execute(statement, {"name": name, "value": value})
        for name, value in numbers.series.items():
            connection.execute(RAISE_SERIES, {"name": name, "value": value})
        connection.execute(RAISE_CHANGE, (numbers.last_change or 0,))
        for identity, created_at, last in numbers.subscriptions:
            connection.execute(RAISE_SUBSCRIPTION, (last, identity, created_at))
        connection.execute("COMMIT")
        _write_back(connection)
    later = numbers.newest_change > before_change
    if not later and numbers.newest_event <= before_event:
        return None
    return Missing(
        max(0, numbers.newest_event - before_event),
        before_event + 1,
        numbers.newest_event,
        timestamps.from_microseconds(numbers.newest_change) if later else None,
    )


def jump_ahead(connection: sqlite3.Connection) -> None:
    """Lets every number of a file go on well after those that it may have given and forgotten. Raises
    sqlite3.Error.
    """
    now = timestamps.microseconds(datetime.now(UTC))
    tables = {name for (name,) in connection.execute(TABLES)}
    connection.execute("BEGIN IMMEDIATE")
    for table, statement in JUMPS.items():
        if table in tables:
            connection.execute(statement, {"jump": JUMP, "now": now})
    connection.execute("COMMIT")
    _write_back(connection)


def keep_shut_out(restored: Path, replaced: Path) -> ShutOut:
    """Shuts out in a restored platform.db whom the replaced one has shut out or deleted, and lets its numbers go
    on. Returns who was shut out anew. A replaced file that cannot be read changes nothing.
    """
    found = ShutOut({}, [], [], is_known=False)
    with closing(connect(restored)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with suppress(sqlite3.Error), closing(_opened(replaced)) as old:
            for name, seq in old.execute(SEQUENCES):
                for statement in (RAISE_SEQUENCE, ADD_SEQUENCE):
                    connection.execute(statement, {"name": name, "value": seq})
            for what, (who, shut_out) in SHUT_OUT.items():
                rows: list[Any] = old.execute(who).fetchall()
                changed = sum(connection.execute(shut_out, row).rowcount for row in rows)
                if changed:
                    found.counts[what] = changed
            back, there = dict(connection.execute(USERS)), dict(old.execute(USERS))
            found.deleted.extend(_shut_out_deleted(connection, old, back, there))
            found.gone.extend(email for user_id, email in there.items() if user_id not in back)
            found = found._replace(is_known=True)
        connection.execute("COMMIT")
        _write_back(connection)
    return found


def _shut_out_deleted(
    connection: sqlite3.Connection,
    old: sqlite3.Connection,
    back: Mapping[int, str],
    there: Mapping[int, str],
) -> list[str]:
    """Disables the users that were deleted since the backup, and returns their addresses in it. Those that are
    merely not in the replaced file, as after the restore of an older backup, are let alone: the audit decides.
    `back` are the addresses of the restored file by the ids of the users, `there` those of the replaced one.
    """
    [(last,)] = connection.execute(LAST_AUDITED)
    deleted = _deleted_since(old.execute(DELETED, (last,)).fetchall())
    found = [(user_id, email) for user_id, email in back.items() if email in deleted and user_id not in there]
    for user_id, email in found:
        connection.execute(DISABLE, (deleted[email], user_id))
    return [email for _, email in found]


def _deleted_since(audited: list[tuple[str, str, str, str | None]]) -> dict[str, str]:
    """When the users were deleted, by every address that they had, of entries with the newest first."""
    deleted: dict[str, str] = {}
    for at, action, email, details in audited:
        if action == "user.delete":
            deleted[email] = at
        elif details is not None and (later := json.loads(details).get("email", {}).get("after")) in deleted:
            deleted[email] = deleted[later]
    return deleted


def _opened(path: Path) -> sqlite3.Connection:
    """Leaves nothing beside a file that has no log."""
    return connect_as_it_is(path, without_log=not log_bytes(path))


def _write_back(connection: sqlite3.Connection) -> None:
    """So that the file alone has everything, before it is put in its place."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
