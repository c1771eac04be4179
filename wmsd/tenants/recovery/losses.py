"""Creates the list of tasks after a restore. This happens when platform.db is first opened, or when lost keys are
replaced.

The list and the new keys are created in one transaction, so that no task can be missing.
"""

from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.recovery.store import is_unlisted

WAS_USED: Final = "SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM companies)"
NEWEST: Final = """
    SELECT id, (SELECT min(access_unknown_after) FROM recoveries WHERE NOT is_listed)
    FROM recoveries WHERE NOT is_listed ORDER BY id DESC LIMIT 1
"""
LISTED: Final = """
    UPDATE recoveries SET is_listed = 1, keys_lost = :keys_lost,
        last_token_id = iif(:keys_lost, (SELECT coalesce(max(id), 0) FROM tokens), 0)
    WHERE NOT is_listed
"""
COLUMNS: Final = (
    "recovery_id, kind, key, user_id, company_id, record_id, subject, name, host, last_used_at, found_at"
)
ADD: Final = f"INSERT INTO recovery_entries ({COLUMNS})"
OPEN_ALREADY: Final = """
    ON CONFLICT (kind, key) WHERE done_at IS NULL DO UPDATE
    SET recovery_id = excluded.recovery_id, subject = excluded.subject, host = excluded.host,
        last_used_at = coalesce(max(last_used_at, excluded.last_used_at), last_used_at, excluded.last_used_at)
"""
TOKENS: Final = f"""
    {ADD}
    SELECT :recovery_id, 'token', users.id || ' ' || tokens.name, users.id, NULL, NULL, users.email, tokens.name,
        NULL, max(last_used_at), :now
    FROM tokens JOIN users ON users.id = tokens.user_id
    WHERE revoked_at IS NULL AND expires_at > :now AND NOT signed_in AND disabled_at IS NULL
        AND tokens.id > (SELECT coalesce(max(last_token_id), 0) FROM recoveries WHERE is_listed AND keys_lost)
    GROUP BY users.id, tokens.name
    {OPEN_ALREADY}
"""
"""The SQL that adds tasks for the tokens of programs. Tokens from signing in are omitted, because people can sign
in again. Tokens that were already lost in an earlier loss of keys are omitted too.
"""
SECOND_FACTORS: Final = f"""
    {ADD}
    SELECT :recovery_id, 'second-factor', users.id, users.id, NULL, NULL, users.email, role, NULL, NULL, :now
    FROM second_factors JOIN users ON users.id = second_factors.user_id
    WHERE is_on AND disabled_at IS NULL
    {OPEN_ALREADY}
"""
WERE_LOST: Final = "SELECT EXISTS (SELECT 1 FROM recoveries WHERE keys_lost)"
"""The SQL that returns whether keys were ever lost. If so, a restored file of a company may contain credentials
that wmsd cannot decrypt, because their key is lost.
"""
COMPANIES: Final = f"""
    {ADD}
    SELECT :recovery_id, 'company', id, NULL, id, NULL, code, name, NULL, NULL, :now
    FROM companies WHERE TRUE
    {OPEN_ALREADY}
"""
USERS: Final = f"""
    {ADD}
    SELECT :recovery_id, 'user', users.id, users.id, NULL, NULL, email, role, NULL, (
        SELECT max(last_used_at) FROM tokens WHERE user_id = users.id
    ), :now
    FROM users WHERE disabled_at IS NULL
    {OPEN_ALREADY}
"""
SITES: Final = f"""
    {ADD}
    SELECT :recovery_id, 'site', sites.id, NULL, company_id, sites.id, companies.code, sites.name, NULL,
        NULL, :now
    FROM sites JOIN companies ON companies.id = company_id
    WHERE token_hash IS NOT NULL
    {OPEN_ALREADY}
"""
PLATFORM_TOKENS: Final = f"""
    {ADD}
    SELECT :recovery_id, 'platform-token', id, NULL, NULL, id, 'kernel', 'platform token ' || id, NULL, NULL, :now
    FROM kernel_tokens WHERE revoked_at IS NULL AND coalesce(expires_at > :now, TRUE)
    {OPEN_ALREADY}
"""


def list_losses(tx: Transaction, *, lost_signing_keys: bool, lost_vault: bool) -> None:
    """Add tasks for things that were lost with the keys, and for access that the restore may have brought back.

    A thing that already has an open task gets no second task. A new installation gets no tasks.
    """
    now = {"now": tx.timestamp}
    is_lost = lost_signing_keys or lost_vault
    if is_lost and not is_unlisted(tx) and tx.value(WAS_USED):
        tx.execute("INSERT INTO recoveries (began_at) VALUES (:now)", now)
    found = tx.row(NEWEST)
    if found is None:
        return
    recovery_id, access_unknown_after = found
    given = {"recovery_id": recovery_id, **now}
    statements = [
        *([TOKENS] if lost_signing_keys else []),
        *([SECOND_FACTORS] if lost_vault else []),
        *([COMPANIES] if lost_vault or tx.value(WERE_LOST) else []),
        *([USERS, SITES, PLATFORM_TOKENS] if access_unknown_after is not None else []),
    ]
    for statement in statements:
        tx.execute(statement, given)
    tx.execute(LISTED, {"keys_lost": lost_signing_keys})
