"""All data about a user that an admin needs, in one answer for the command line."""

import json
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import second_factors, sessions, store
from wmsd.tenants.accounts.user_lists import USERS
from wmsd.tenants.companies import store as companies

MADE_BY: Final = """
    SELECT actor FROM audit WHERE subject = ? AND substr(action, 1, 12) = 'user.create ' ORDER BY id DESC LIMIT 1
"""
ACCOUNTS: Final = "SELECT issuer FROM sign_on_identities WHERE user_id = ? ORDER BY issuer"
TOKENS: Final = """
    SELECT id, name, abilities, company_ids, created_at, expires_at, last_used_at, last_used_from,
        CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= :now THEN 'expired' ELSE 'active' END
            AS state
    FROM tokens WHERE user_id = :id ORDER BY id DESC LIMIT 200
"""
"""The newest tokens, at most 200. A program that signs in repeatedly leaves many tokens."""


def of_user(tx: Transaction, user_id: int) -> dict[str, Any]:
    """Return all data about an existing user."""
    user = store.known_user(tx, user_id)
    codes = companies.codes(tx)
    record = json.loads(USERS.one(tx, user_id).json)
    waiting = {name: value for name, value in record.items() if name.startswith("waiting_")}
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "role": user.role,
        "companies": "all" if user.may_use is None else sorted(codes[each] for each in user.company_ids),
        "abilities": list(user.abilities),
        "disabled": user.disabled,
        **waiting,
        "password": bool(user.password_hash),
        "second_factor": second_factors.is_on(tx, user_id),
        "single_sign_on": [issuer for (issuer,) in tx.rows(ACCOUNTS, (user_id,))],
        "link_until": record["invited_until"],
        "created_at": record["created_at"],
        "created_by": tx.value(MADE_BY, (user.email,)),
        "sessions": [
            {
                "id": each.id,
                "made_at": timestamps.to_text(each.made_at),
                "seen_at": timestamps.to_text(each.seen_at),
                "address": each.address,
                "agent": each.agent,
            }
            for each in sessions.of_user(tx, user_id)
        ],
        "tokens": [_token(row, codes) for row in tx.records(TOKENS, {"id": user_id, "now": tx.timestamp})],
    }


def _token(row: dict[str, Any], codes: dict[int, str]) -> dict[str, Any]:
    own = row.pop("company_ids")
    companies_of_token = None if own is None else [codes[each] for each in json.loads(own) if each in codes]
    return {**row, "abilities": json.loads(row["abilities"]), "companies": companies_of_token}
