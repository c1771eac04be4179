"""Tokens that expire soon: how many tokens need attention, and which ones to log."""

from typing import Any, Final

from wmsd.contract.context import Caller
from wmsd.contract.fields import Model
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts.user_lists import IS_MANAGED, OWN, SOON_DAYS, WITHIN, moment_in, own_tokens
from wmsd.tenants.companies.record_lists import for_everybody

MOST_COUNTED: Final = 100
"""The largest number that is counted. A larger number is not more useful, and counting further slows down the page
Today.
"""
MOST_ALERTED: Final = 1000
LAST_DAYS: Final = 1
TOLD_AT_ONCE: Final = 100


class EndingTokens(Model):
    """The number of tokens that expire within `days`. `more` says that there are more than `number`."""

    days: int
    number: int
    more: bool


ENDING: Final = """
    tokens.revoked_at IS NULL AND NOT tokens.renewed AND tokens.expires_at > :now AND tokens.expires_at <= :until
    AND users.disabled_at IS NULL
"""
BY_END: Final = f"""
    SELECT 1 FROM tokens INDEXED BY tokens_ending CROSS JOIN users ON users.id = tokens.user_id WHERE {ENDING}
"""
BY_USER: Final = f"""
    SELECT 1 FROM users CROSS JOIN tokens INDEXED BY tokens_by_user ON tokens.user_id = users.id
    WHERE {ENDING} AND (users.id = :{OWN} OR ({IS_MANAGED}))
"""
OF_ONE: Final = f"""
    SELECT 1 FROM users CROSS JOIN tokens INDEXED BY tokens_by_user ON tokens.user_id = users.id
    WHERE users.id = :{OWN} AND {ENDING}
"""


@for_everybody(answer="object", returns=EndingTokens)
def count_ending_tokens(tx: Transaction, caller: Caller) -> dict[str, Any]:
    """Count your tokens that expire soon, and those of the users whom you manage."""
    values = {"now": tx.timestamp, "until": moment_in(tx, SOON_DAYS), "most": MOST_COUNTED + 1}
    own = own_tokens(caller)
    sql = BY_END if not own else OF_ONE if own[WITHIN] == "[]" else BY_USER
    found = tx.number(f"SELECT count(*) FROM ({sql} LIMIT :most)", values | own)
    return {"days": SOON_DAYS, "number": min(found, MOST_COUNTED), "more": found > MOST_COUNTED}


TO_TELL: Final = f"""
    SELECT tokens.id, tokens.name, users.email AS user, tokens.expires_at, tokens.last_used_at,
        iif(tokens.expires_at <= :last, {LAST_DAYS}, {SOON_DAYS}) AS days
    FROM tokens INDEXED BY tokens_ending CROSS JOIN users ON users.id = tokens.user_id
    WHERE {ENDING}
        AND unixepoch(tokens.expires_at) - unixepoch(tokens.created_at) > 86400 * days
        AND (tokens.told_days IS NULL OR tokens.told_days > days)
    LIMIT {TOLD_AT_ONCE}
"""
"""The SQL of tokens to report in the log. A token is reported once in the last 14 days before it expires, and once
more in the last day.

A token that was issued for at most 14 days is reported only in the last day. A token that was issued for at most
one day is not reported.
"""
HAS_TOLD: Final = "UPDATE tokens SET told_days = :days WHERE id = :id"


def tokens_to_log(tx: Transaction) -> list[dict[str, Any]]:
    """Return the tokens to log now, at most `TOLD_AT_ONCE`, and mark them as logged. Call this function until it
    returns an empty list.
    """
    ends = {"until": moment_in(tx, SOON_DAYS), "last": moment_in(tx, LAST_DAYS)}
    found = tx.records(TO_TELL, {"now": tx.timestamp, **ends})
    tx.executemany(HAS_TOLD, [{"id": each["id"], "days": each["days"]} for each in found])
    return found


FOR_ALERTS: Final = f"""
    SELECT tokens.id, tokens.name, users.email AS user, tokens.expires_at
    FROM tokens INDEXED BY tokens_ending CROSS JOIN users ON users.id = tokens.user_id
    WHERE {ENDING} AND unixepoch(tokens.expires_at) - unixepoch(tokens.created_at) > 86400 * {SOON_DAYS}
    LIMIT {MOST_ALERTED}
"""
"""The SQL of tokens for alerts. Tokens whose whole lifetime is not longer than the warning period are left out."""


def for_alerts(tx: Transaction) -> list[dict[str, Any]]:
    """Return the tokens that expire soon, for alerts to people outside of the installation."""
    return tx.records(FOR_ALERTS, {"now": tx.timestamp, "until": moment_in(tx, SOON_DAYS)})
