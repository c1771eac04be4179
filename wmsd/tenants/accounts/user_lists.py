"""The lists and records of users and tokens that admins see."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from wmsd.base import timestamps
from wmsd.base.email_addresses import readable_address
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Caller
from wmsd.contract.list_queries import Query
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts.schema import TokenFilters, TokenRecord, UserFilters, UserRecord
from wmsd.tenants.accounts.store import user_by_email
from wmsd.tenants.companies.record_lists import NOW, for_company_admins, for_everybody, record_list

WITHIN: Final = "within"
"""The name of an internal filter, which callers cannot send. Its value is the ids of a company admin's companies.
"""
OWN: Final = "own"
"""The name of an internal filter, which callers cannot send. Its value is the id of the caller, who sees own
tokens in addition to the tokens of managed users.
"""
REACHED: Final = "reached"
"""The name of an internal filter, which callers cannot send. Its value is the ids of the companies that the
caller's session opens.
"""
IS_MANAGED: Final = f"""
    users.role <> 'platform-admin'
    AND EXISTS (SELECT 1 FROM user_companies WHERE user_id = users.id)
    AND NOT EXISTS (
        SELECT 1 FROM user_companies
        WHERE user_id = users.id AND company_id NOT IN (SELECT value FROM json_each(:{WITHIN}))
    )
"""
"""The SQL condition that a company admin may manage the user. It has the same meaning as `rules.may_manage`."""
CODES: Final = """
    SELECT json_group_array(companies.code ORDER BY companies.code) FROM companies WHERE companies.id IN
"""
WAITING_COMPANIES: Final = """
    SELECT company_id FROM user_companies WHERE user_id = users.id AND password_reach IS NOT NULL
        AND company_id NOT IN (SELECT value FROM json_each(password_reach, '$.company_ids'))
"""
WAITING_ABILITIES: Final = """
    (
        SELECT json_group_array(value) FROM json_each(users.abilities)
        WHERE password_reach ->> 'role' = role
            AND value NOT IN (SELECT value FROM json_each(password_reach, '$.abilities'))
    )
"""
"""The SQL that lists a user's abilities that wait for a new password.

If a new role waits too, the list is empty: the user gets the abilities together with the role.
"""


def managed_by(caller: Caller) -> dict[str, object]:
    """Return the filter that selects the users whom the caller may manage. A platform admin needs no filter."""
    if caller.role == "platform-admin":
        return {}
    own = caller.company_ids if caller.role == "company-admin" else None
    return {WITHIN: dumps(sorted(own or ()))}


def own_tokens(caller: Caller) -> dict[str, object]:
    """Return the filters that select the caller's own tokens and the tokens of the users whom the caller manages.
    A platform admin needs no filters.
    """
    managed = managed_by(caller)
    if not managed:
        return {}
    return managed | {OWN: caller.actor.user_id, REACHED: dumps(sorted(caller.company_ids or ()))}


def moment_in(tx: Transaction, days: int) -> str:
    """Return the time that is `days` days from now."""
    return timestamps.to_text(tx.now + timedelta(days=days))


def _user_filters(tx: Transaction, query: Query, caller: Caller) -> Mapping[str, object]:
    tx.define("readable", readable_address)
    return query.filters() | managed_by(caller)


def _token_filters(tx: Transaction, query: Query, caller: Caller) -> Mapping[str, object]:
    values = query.filters() | own_tokens(caller) | {NOW: tx.timestamp}
    if "user" in values:
        user = user_by_email(tx, str(values["user"]))
        values["user"] = "" if user is None else user.email
    days = values.get("expires_within")
    return values if days is None else values | {"expires_within": moment_in(tx, int(str(days)))}


USERS: Final = record_list(
    "users",
    "List the users whom an admin may change.",
    "users",
    for_company_admins,
    UserRecord,
    UserFilters,
    noun="user",
    columns={
        "company_codes": f"({CODES} (SELECT company_id FROM user_companies WHERE user_id = users.id))",
        "active": "disabled_at IS NULL",
        "invited_until": "(SELECT expires_at FROM invitations WHERE user_id = users.id)",
        "waiting_role": "iif(password_reach IS NULL, NULL, nullif(role, password_reach ->> 'role'))",
        "waiting_company_codes": f"({CODES} ({WAITING_COMPANIES}))",
        "waiting_abilities": WAITING_ABILITIES,
        "last_seen_at": "(SELECT max(seen_at) FROM sessions WHERE user_id = users.id)",
    },
    conditions_of={
        "search": "instr(plain(email || ' ' || readable(email) || ' ' || name), :search)",
        "active": "(disabled_at IS NULL) = :active",
    },
    hidden={WITHIN: IS_MANAGED},
    filters=_user_filters,
    orders=("id", "email", "name"),
)
EMAIL: Final = "(SELECT users.email FROM users WHERE users.id = tokens.user_id)"
IS_ACTIVE: Final = "revoked_at IS NULL AND (SELECT disabled_at IS NULL FROM users WHERE users.id = tokens.user_id)"
SOON_DAYS: Final = 14
"""wmsd warns this many days before a token expires."""
LEFT: Final = f"(unixepoch(expires_at) - unixepoch(:{NOW}))"
"""The SQL of the number of seconds until a token expires."""
IS_ENDING: Final = f"""
    revoked_at IS NULL AND NOT renewed AND expires_at > :{NOW} AND expires_at <= :expires_within
    AND (SELECT disabled_at IS NULL FROM users WHERE users.id = tokens.user_id)
"""
"""The SQL condition for a token that expires at or before `:expires_within`. The token is valid and belongs to an
active user, and no newer token replaces it.
"""
BEYOND: Final = f"""
    SELECT 1 FROM user_companies
    WHERE user_companies.user_id = tokens.user_id
        AND (company_ids IS NULL OR company_id IN (SELECT value FROM json_each(company_ids)))
        AND company_id NOT IN (SELECT value FROM json_each(:{REACHED}))
"""
"""The SQL that finds companies that a token of the caller opens, but the caller's session does not open."""
TOKENS: Final = record_list(
    "token_records",
    "List your tokens, and the tokens of the users whom you manage, newest first.",
    "tokens",
    for_everybody,
    TokenRecord,
    TokenFilters,
    noun="token",
    columns={
        "expires_in_days": f"""
            iif({IS_ACTIVE} AND NOT renewed AND {LEFT} < {SOON_DAYS * 86_400},
                iif(expires_at <= :{NOW}, -1, ({LEFT} + 43200) / 86400), NULL)
        """,
        "user": EMAIL,
        "company_codes": f"iif(company_ids IS NULL, NULL, ({CODES} (SELECT value FROM json_each(company_ids))))",
        "active": IS_ACTIVE,
    },
    conditions_of={
        "user": f"{EMAIL} = :user",
        "active": f"({IS_ACTIVE}) = :active",
        "expires_within": IS_ENDING,
    },
    hidden={
        REACHED: f"(:{REACHED} IS NOT NULL)",
        WITHIN: f"""
            (
                user_id = :{OWN} AND NOT EXISTS ({BEYOND})
                OR EXISTS (SELECT 1 FROM users WHERE users.id = tokens.user_id AND {IS_MANAGED})
            )
        """,
        OWN: f"(:{OWN} IS NOT NULL)",
    },
    filters=_token_filters,
    sort="-id",
)
