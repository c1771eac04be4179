"""Writes a note into a restored platform.db, which says that the file was restored.

The note is written before the file is moved to its place, so no restore can be overlooked. When wmsd opens the
file for the first time, `losses.py` creates the list of tasks. Before that, wmsd does not know whether the keys
are lost.
"""

from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.db.engine.sqlite import connect, connect_leaving_nothing, sole_transaction, sqlite3
from wmsd.db.migrations import PLATFORM, migrate

BEGIN: Final = "INSERT INTO recoveries (began_at, access_unknown_after) VALUES (?, ?)"
RECOVERIES: Final = """
    SELECT began_at, access_unknown_after, keys_lost, last_token_id, is_listed, id FROM recoveries ORDER BY id
"""
ADD_RECOVERY: Final = """
    INSERT INTO recoveries (began_at, access_unknown_after, keys_lost, last_token_id, is_listed)
    VALUES (?, ?, ?, ?, ?)
"""
COLUMNS: Final = """
    kind, key, user_id, company_id, record_id, subject, name, host, last_used_at, found_at, done_at, done_as,
    done_by
"""
ENTRIES: Final = f"SELECT recovery_id, {COLUMNS} FROM recovery_entries WHERE kind NOT IN ('webhook', 'company')"
HAS_ENTRY: Final = "SELECT 1 FROM recovery_entries WHERE recovery_id = ? AND kind = ? AND key = ?"
ADD_ENTRY: Final = f"""
    INSERT OR IGNORE INTO recovery_entries (recovery_id, {COLUMNS})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
DECIDED: Final = """
    UPDATE recovery_entries SET done_at = ?, done_as = ?, done_by = ?
    WHERE done_at IS NULL AND recovery_id = ? AND kind = ? AND key = ?
"""
LAST_KNOWN: Final = """
    SELECT max(at) FROM (
        SELECT max(at) AS at FROM audit
        UNION ALL SELECT max(last_used_at) FROM tokens
        UNION ALL SELECT max(updated_at) FROM users
    )
"""


def note_restore(restored: Path, replaced: Path | None, as_of: str | None) -> str | None:
    """Note in the platform.db `restored` that it was restored.

    Return the time after which wmsd does not know whether access was revoked. Return None if wmsd knows all
    revocations.

    `as_of` is the time of the backup, or None if nothing was written after the backup. `replaced` is the previous
    platform.db, whose later revocations the caller has already copied. It is None if it cannot be read completely.
    Copy the restores and the tasks of `replaced`. If `replaced` has no restores, write no note. Raise
    sqlite3.Error or StorageError if the note cannot be written.
    """
    if replaced is None:
        _begin(restored, as_of)
        return as_of
    recoveries, entries = _list_of(replaced)
    if recoveries:
        _begin(restored, None, recoveries, entries)
    return None


def note_replica(restored: Path) -> str:
    """Note that the platform.db `restored` was restored from a replica. Return the time of its last known change.
    Later changes may be missing. Raise the same errors as `note_restore`.
    """
    with closing(connect(restored)) as connection:
        [as_of] = connection.execute(LAST_KNOWN).fetchone()
    return note_restore(restored, None, as_of or _now()) or ""


def _now() -> str:
    return timestamps.to_text(datetime.now(UTC))


def _begin(
    restored: Path, unknown_after: str | None, recoveries: Iterable[Any] = (), entries: Iterable[Any] = ()
) -> None:
    migrate(restored, PLATFORM)  # a backup of an older version has no such tables yet
    with sole_transaction(restored) as connection:
        _take_over(connection, recoveries, entries)
        connection.execute(BEGIN, (_now(), unknown_after))


def _list_of(replaced: Path) -> tuple[list[Any], list[Any]]:
    """Return the restores and the tasks that are stored in the platform.db `replaced`. Return empty lists if they
    cannot be read, for example because an older version of wmsd has written the file.
    """
    try:
        with closing(connect_leaving_nothing(replaced)) as connection:
            return connection.execute(RECOVERIES).fetchall(), connection.execute(ENTRIES).fetchall()
    except sqlite3.Error:
        return [], []


def _take_over(connection: sqlite3.Connection, recoveries: Iterable[Any], entries: Iterable[Any]) -> None:
    """Copy the restores and the tasks of the previous platform.db to the restored platform.db.

    Open tasks stay open, and the decisions of users stay. A thing that was created again is missing in the
    restored file, so its task is open again. Tasks about webhooks are not copied, because wmsd checks the webhooks
    again and adds these tasks.
    """
    ids: dict[int, int] = {}
    for *fields, id in recoveries:
        same = connection.execute("SELECT id FROM recoveries WHERE began_at = ?", (fields[0],)).fetchone()
        ids[id] = same[0] if same else connection.execute(ADD_RECOVERY, fields).lastrowid or 0
    for recovery_id, *fields, done_at, done_as, done_by in entries:
        of = (ids[recovery_id], *fields[:2])
        done = (None, None, None) if done_as == "renewed" else (done_at, done_as, done_by)
        if connection.execute(HAS_ENTRY, of).fetchone() is None:
            connection.execute(ADD_ENTRY, (ids[recovery_id], *fields, *done))
        elif done[0] is not None:
            connection.execute(DECIDED, (*done, *of))
