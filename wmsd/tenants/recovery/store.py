"""The SQL of the list of tasks after a restore. Each entry is a task. It is open until it is settled. A settled
entry stays in the table.
"""

from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction

Kind = Literal["token", "webhook", "second-factor", "company", "user", "site", "platform-token"]
LOST: Final = ("token", "webhook", "second-factor", "company")
"""The kinds of tasks to create something again. A task of the kind `company` says that wmsd has not checked the
webhooks of a company yet.
"""
ACCESS: Final = ("user", "site", "platform-token")
"""The kinds of tasks about access that the restore may have brought back."""
How = Literal["renewed", "dismissed", "confirmed", "ended", "gone"]
MOST_SHOWN: Final = 500
"""The maximum number of settled tasks that are listed. The newest ones are listed."""

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
    """The open tasks. `is_unlisted` is True if the list of tasks after a restore is not created yet."""

    entries: list[Entry]
    is_unlisted: bool


def recovery(tx: Transaction) -> Recovery:
    return Recovery(open_entries(tx), is_unlisted(tx))


def is_unlisted(tx: Transaction) -> bool:
    """Return True if wmsd has not yet created the list of tasks after a restore."""
    return bool(tx.value("SELECT EXISTS (SELECT 1 FROM recoveries WHERE NOT is_listed)"))


def open_count(tx: Transaction) -> int:
    """Return the number of open tasks. A restore without a list of tasks counts as one task."""
    return tx.number(COUNT)


def open_entries(tx: Transaction) -> list[Entry]:
    return tx.records(OPEN, (tx.timestamp,))


def done_entries(tx: Transaction) -> list[Entry]:
    """Return the settled tasks, the newest first."""
    return tx.records(DONE)


def entries(tx: Transaction, ids: Iterable[int]) -> dict[int, Entry]:
    """Return the tasks with these ids, by id. Leave out unknown ids."""
    return {entry["id"]: entry for entry in tx.records(SOME, (dumps(list(ids)),))}


def access_unknown_after(tx: Transaction) -> str | None:
    """Return the time after which wmsd does not know whether access was revoked. With several open tasks about
    access, return the earliest time. Return None if no task about access is open.
    """
    return tx.find_text(UNKNOWN_AFTER, (dumps(ACCESS),))


def finish(tx: Transaction, ids: Iterable[int], how: How, by: str | None) -> int:
    """Settle the tasks `ids` that are still open, and return how many these are. `how` is the way of settling,
    such as "dismissed". `by` is the name of the person who settles them.
    """
    return tx.execute(FINISH, {"now": tx.timestamp, "how": how, "by": by, "ids": dumps(list(ids))}).rowcount


def companies_with_open_entries(tx: Transaction) -> list[int]:
    """Return the ids of the companies with open tasks about webhooks."""
    return [company_id for (company_id,) in tx.rows(OF_WEBHOOKS)]
