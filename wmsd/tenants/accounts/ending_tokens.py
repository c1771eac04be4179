"""Tokens that end soon: how many somebody has to look after, and what the log tells of them."""

from typing import Any, Final

from wmsd.contract.context import Caller
from wmsd.contract.fields import Model
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts.user_lists import IS_MANAGED, OWN, SOON_DAYS, WITHIN, moment_in, own_tokens
from wmsd.tenants.companies.record_lists import for_everybody

MOST_COUNTED: Final = 100
"""A larger number is of no more use, and counting on would cost the page Today."""
MOST_ALERTED: Final = 1000
LAST_DAYS: Final = 1
TOLD_AT_ONCE: Final = 100


class EndingTokens(Model):
    """How many end within so many days. `more`: there are more than `number`."""

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
    """Count the tokens that end soon, of those that one may see."""
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
"""Those that the log has not told of yet, at so many days before their end. One that was made for no longer than
that is no news.
"""
HAS_TOLD: Final = "UPDATE tokens SET told_days = :days WHERE id = :id"


def tokens_to_log(tx: Transaction) -> list[dict[str, Any]]:
    """Some of the tokens that the log is to tell of now, and only now."""
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
"""One that was made for no longer than the warning comes before its end is no news."""


def for_alerts(tx: Transaction) -> list[dict[str, Any]]:
    """The tokens that end soon, as they are told to people outside of the house."""
    return tx.records(FOR_ALERTS, {"now": tx.timestamp, "until": moment_in(tx, SOON_DAYS)})
