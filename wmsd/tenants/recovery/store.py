"""The SQL of the list of tasks after a restore. An entry is open until it is settled, and its row stays after
that.
"""

from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction

Kind = Literal["token", "webhook", "second-factor", "company", "user", "site", "platform-token"]
LOST: Final = ("token", "webhook", "second-factor", "company")
"""The kinds of entries about something that must be created again. `company`: its webhooks were not checked
yet.
"""
ACCESS: Final = ("user", "site", "platform-token")
"""The kinds of entries about access that may have come back."""
How = Literal["renewed", "dismissed", "confirmed", "ended", "gone"]
MOST_SHOWN: Final = 500
"""The most settled entries in a list, the newest first."""

COUNT: Final = """
    SELECT (SELECT count(*) FROM recovery_entries WHERE done_at IS NULL)
        + (SELECT count(*) FROM recoveries WHERE NOT is_listed)
"""
COLUMNS: Final = """
    recovery_entries.id, kind, user_id, recovery_entries.company_id, record_id, subject, recovery_entries.name,
    host, last_used_at, found_at, done_at, done_as, done_by, access_unknown_after
"""
SOURCE: Final = "recovery_entries JOIN recoveries ON recoveries.id = recovery_id"
OPEN: Final = f"""
    SELECT {COLUMNS}, iif(kind = 'user', (
        SELECT count(*) FROM tokens
        WHERE tokens.user_id = recovery_entries.user_id AND revoked_at IS NULL AND expires_at > ?
            AND tokens.id > (SELECT coalesce(max(last_token_id), 0) FROM recoveries WHERE keys_lost)
    ), NULL) AS tokens
    FROM {SOURCE} WHERE done_at IS NULL ORDER BY kind, subject, recovery_entries.name, recovery_entries.id
"""
DONE: Final = f"""
    SELECT {COLUMNS}, NULL AS tokens FROM {SOURCE} WHERE done_at IS NOT NULL
    ORDER BY done_at DESC, recovery_entries.id DESC LIMIT {MOST_SHOWN}
"""
SOME: Final = f"""
    SELECT {COLUMNS} FROM {SOURCE} WHERE recovery_entries.id IN (SELECT value FROM json_each(?))
"""
UNKNOWN_AFTER: Final = f"""
    SELECT min(access_unknown_after) FROM {SOURCE}
    WHERE done_at IS NULL AND kind IN (SELECT value FROM json_each(?))
"""
FINISH: Final = """
    UPDATE recovery_entries SET done_at = :now, done_as = :how, done_by = :by
    WHERE done_at IS NULL AND id IN (SELECT value FROM json_each(:ids))
"""
OF_WEBHOOKS: Final = """
    SELECT DISTINCT company_id FROM recovery_entries WHERE done_at IS NULL AND kind IN ('company', 'webhook')
"""

Entry = dict[str, Any]


class Recovery(NamedTuple):
    """The open entries, and whether there was a restore whose entries were not created yet."""

    entries: list[Entry]
    is_unlisted: bool


def recovery(tx: Transaction) -> Recovery:
    return Recovery(open_entries(tx), is_unlisted(tx))


def is_unlisted(tx: Transaction) -> bool:
    """Return True if there was a restore whose list was not created yet."""
    return bool(tx.value("SELECT EXISTS (SELECT 1 FROM recoveries WHERE NOT is_listed)"))


def open_count(tx: Transaction) -> int:
    """Return how many entries are open. A restore whose entries were not created yet counts as one."""
    return tx.number(COUNT)


def open_entries(tx: Transaction) -> list[Entry]:
    return tx.records(OPEN, (tx.timestamp,))


def done_entries(tx: Transaction) -> list[Entry]:
    """Return the settled entries, the newest first."""
    return tx.records(DONE)


def entries(tx: Transaction, ids: Iterable[int]) -> dict[int, Entry]:
    """Return the entries with these ids, by id. Unknown ids are left out."""
    return {entry["id"]: entry for entry in tx.records(SOME, (dumps(list(ids)),))}


def access_unknown_after(tx: Transaction) -> str | None:
    """Return the earliest time after which revoked access is unknown, or None if no entry about access is open."""
    return tx.find_text(UNKNOWN_AFTER, (dumps(ACCESS),))


def finish(tx: Transaction, ids: Iterable[int], how: How, by: str | None) -> int:
    """Settle those of the entries that are open. Return how many were settled."""
    return tx.execute(FINISH, {"now": tx.timestamp, "how": how, "by": by, "ids": dumps(list(ids))}).rowcount


def companies_with_open_entries(tx: Transaction) -> list[int]:
    """Return the ids of companies with open entries about webhooks."""
    return [company_id for (company_id,) in tx.rows(OF_WEBHOOKS)]
