"""What a restored platform.db takes over from the file that it replaces: used ids and revoked access.

New ids continue after the ids of the replaced file. Users, tokens and sites that have lost their access do not get
it back.
"""

import json
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.data_folder.numbers import SEQUENCES
from wmsd.db.engine.sqlite import connect_leaving_nothing, sole_transaction, sqlite3
from wmsd.db.engine.transaction import Transaction

RAISE_SEQUENCE: Final = "UPDATE sqlite_sequence SET seq = max(seq, :value) WHERE name = :name"
ADD_SEQUENCE: Final = """
    INSERT INTO sqlite_sequence (name, seq)
    SELECT :name, :value
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name)
"""
"""Adds a row for a table to `sqlite_sequence` if it has none. SQLite adds this row only when the table gets its
first row.
"""
LEAP: Final = 10_000
"""How many ids each table of platform.db skips if the last used ids are not known."""
NUMBERED: Final = """
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT LIKE 'recover%' ORDER BY name
"""
"""The tables whose ids must not be used again after a restore. The recovery tables are not included: they are
filled after the restore, and no one stores their ids.
"""

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
"""Two statements for each kind of access. The first selects the revoked or disabled rows in the replaced file. The
second revokes or disables one of these rows in the restored file.
"""

DELETED: Final = """
    SELECT at, action, subject, details FROM audit
    WHERE action IN ('user.delete', 'user.change') AND id > ? ORDER BY id DESC
"""
LAST_AUDITED: Final = "SELECT coalesce(max(id), 0) FROM audit"
USERS: Final = "SELECT id, email FROM users ORDER BY email"
DISABLE: Final = "UPDATE users SET disabled_at = ? WHERE id = ? AND disabled_at IS NULL"


class RevokedAccess(NamedTuple):
    """What was revoked or disabled in a restored platform.db because of the replaced file."""

    counts: dict[str, int]
    """How many rows the restore has revoked or disabled, by kind."""
    deleted: list[str]
    """The e-mail addresses of users that were deleted after the backup. The restored file contains them, disabled.
    """
    gone: list[str]
    """The e-mail addresses of users that were created after the backup. The restored file does not
    contain them.
    """
    is_known: bool = True
    """True if the whole replaced file could be read. If False, revocations may be missing here."""


def raise_to(of: sqlite3.Connection | Transaction, table: str, value: int) -> None:
    """Make the next id of the table greater than `value`. Raise sqlite3.Error if that fails."""
    for statement in (RAISE_SEQUENCE, ADD_SEQUENCE):
        of.execute(statement, {"name": table, "value": value})


def leap_ids(platform: Path) -> None:
    """Skip ids in every table of a restored platform.db. Use this if the ids that were used after the backup are
    not known.

    Raise sqlite3.Error if that fails.
    """
    with sole_transaction(platform) as connection:
        given: dict[str, int] = dict(connection.execute(SEQUENCES))
        for (name,) in connection.execute(NUMBERED).fetchall():
            raise_to(connection, name, given.get(name, 0) + LEAP)


def keep_revoked(restored: Path, replaced: Path) -> RevokedAccess:
    """Copy revocations from the replaced platform.db to the restored one. Access that was revoked, disabled or
    deleted in the replaced file is then revoked or disabled in the restored file.

    Also let new ids of the restored file continue after the ids of the replaced file. Return what was revoked or
    disabled. If only a part of the replaced file can be read, use this part, and return `is_known` as False.
    """
    found = RevokedAccess({}, [], [], is_known=False)
    with (
        sole_transaction(restored) as connection,
        suppress(sqlite3.Error),
        closing(connect_leaving_nothing(replaced)) as old,
    ):
        for name, seq in old.execute(SEQUENCES):
            raise_to(connection, name, seq)
        for what, (who, shut_out) in SHUT_OUT.items():
            rows: list[Any] = old.execute(who).fetchall()
            changed = sum(connection.execute(shut_out, row).rowcount for row in rows)
            if changed:
                found.counts[what] = changed
        back, there = dict(connection.execute(USERS)), dict(old.execute(USERS))
        found.deleted.extend(_disable_deleted(connection, old, back, there))
        found.gone.extend(email for user_id, email in there.items() if user_id not in back)
        found = found._replace(is_known=True)
    return found


def _disable_deleted(
    connection: sqlite3.Connection,
    old: sqlite3.Connection,
    back: Mapping[int, str],
    there: Mapping[int, str],
) -> list[str]:
    """Disable the restored users that were deleted after the backup. Return their e-mail addresses in the restored
    file.

    A user is disabled only if the audit of the replaced file says that the user was deleted. It is not enough that
    the user is missing there: the replaced file may itself come from an older backup.

    `connection` is open on the restored file, and `old` on the replaced file. `back` has the e-mail addresses in
    the restored file by user id, and `there` has those in the replaced file.
    """
    [(last,)] = connection.execute(LAST_AUDITED)
    deleted = _deleted_since(old.execute(DELETED, (last,)).fetchall())
    found = [(user_id, email) for user_id, email in back.items() if email in deleted and user_id not in there]
    for user_id, email in found:
        connection.execute(DISABLE, (deleted[email], user_id))
    return [email for _, email in found]


def _deleted_since(audited: list[tuple[str, str, str, str | None]]) -> dict[str, str]:
    """Return a dict with the time at which each user was deleted. Its keys are e-mail addresses: each deleted
    user's last address, and all earlier ones.

    `audited` are entries of the audit, the newest first.
    """
    deleted: dict[str, str] = {}
    for at, action, email, details in audited:
        if action == "user.delete":
            deleted[email] = at
        elif details is not None and (later := json.loads(details).get("email", {}).get("after")) in deleted:
            deleted[email] = deleted[later]
    return deleted
