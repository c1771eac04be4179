"""The SQL of API tokens."""

import json
from typing import Any, Final

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts.rules import Token, User
from wmsd.tenants.accounts.store import user_by_id

TOKEN_COLUMNS: Final = "id, user_id, name, abilities, company_ids, expires_at, revoked_at"
TOKEN_BY_JTI: Final = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE jti = ?"
TOKEN_BY_ID: Final = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE id = ?"


REVOKE: Final = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
REVOKE_SIGNED_IN: Final = """
    UPDATE tokens SET revoked_at = :now
    WHERE user_id = :user_id AND signed_in AND revoked_at IS NULL AND expires_at > :now
"""
LIST_TOKENS: Final = """
    SELECT tokens.id, users.email AS user, tokens.name, tokens.abilities, tokens.company_ids, tokens.created_at,
        tokens.expires_at, tokens.last_used_at, tokens.revoked_at, tokens.signed_in
    FROM tokens JOIN users ON users.id = tokens.user_id ORDER BY tokens.id
"""
ACTIVE_TOKENS: Final = "SELECT count(*) FROM tokens WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ?"
REVOKE_ALL: Final = "UPDATE tokens SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL"


REVOKE_OF_COMPANY: Final = """
    UPDATE tokens SET revoked_at = ? WHERE company_ids = json_array(?) AND revoked_at IS NULL
"""
LEAVE_COMPANY: Final = """
    UPDATE tokens SET company_ids = (
        SELECT json_group_array(value) FROM json_each(tokens.company_ids) WHERE value <> :company_id
    )
    WHERE EXISTS (SELECT 1 FROM json_each(tokens.company_ids) WHERE value = :company_id)
"""


def token_and_user(tx: Transaction, *, jti: str | None = None, id: int | None = None) -> tuple[Token, User] | None:
    row = tx.record(TOKEN_BY_JTI, (jti,)) if jti is not None else tx.record(TOKEN_BY_ID, (id,))
    user = user_by_id(tx, row["user_id"]) if row else None
    return None if row is None or user is None else (_token(row), user)


def _token(row: dict[str, Any]) -> Token:
    companies = row["company_ids"]
    return Token(
        id=row["id"],
        name=row["name"],
        abilities=tuple(json.loads(row["abilities"])),
        company_ids=None if companies is None else frozenset(json.loads(companies)),
        expires_at=timestamps.from_text(row["expires_at"]),
        revoked=row["revoked_at"] is not None,
    )


def revoke_token(tx: Transaction, token_id: int) -> bool:
    return tx.execute(REVOKE, (tx.timestamp, token_id)).rowcount > 0


def revoke_signed_in(tx: Transaction, user_id: int) -> int:
    """Revoke the tokens that the user received by signing in. Return how many were revoked."""
    return tx.execute(REVOKE_SIGNED_IN, {"user_id": user_id, "now": tx.timestamp}).rowcount


def sweep_expired_tokens(tx: Transaction) -> int:
    return tx.execute("DELETE FROM tokens WHERE expires_at <= ?", (tx.timestamp,)).rowcount


def list_tokens(tx: Transaction) -> list[dict[str, Any]]:
    rows = tx.records(LIST_TOKENS)
    for row in rows:
        row["abilities"] = json.loads(row["abilities"])
        row["company_ids"] = json.loads(row["company_ids"]) if row["company_ids"] else None
        row["signed_in"] = bool(row["signed_in"])
    return rows


def active_tokens_of(tx: Transaction, user_id: int) -> int:
    return tx.number(ACTIVE_TOKENS, (user_id, tx.timestamp))


def note_renewed(tx: Transaction, user_id: int, name: str) -> None:
    """Mark the user's tokens with this name as renewed. Another token replaces them, so wmsd does not warn that
    they expire.
    """
    tx.execute("UPDATE tokens SET renewed = 1 WHERE user_id = ? AND name = ? AND NOT renewed", (user_id, name))


def revoke_tokens_of(tx: Transaction, user_id: int) -> int:
    """Revoke all tokens of a user. Return how many were revoked."""
    return tx.execute(REVOKE_ALL, (tx.timestamp, user_id)).rowcount


def leave_company(tx: Transaction, company_id: int) -> int:
    """Remove a company from all tokens that name it. A token that names only this company is revoked. Return the
    number of revoked tokens.
    """
    revoked = tx.execute(REVOKE_OF_COMPANY, (tx.timestamp, company_id)).rowcount
    tx.execute(LEAVE_COMPANY, {"company_id": company_id})
    return revoked
