"""The SQL of users, tokens and keys."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts.reach import Reach, Voucher, companies_from_text, companies_to_text
from wmsd.tenants.accounts.rules import Token, User
from wmsd.tenants.keys.master_key import SEALED, MasterKey

USER_COLUMNS: Final = """
    users.id, users.email, users.name, users.role, users.password_hash, users.abilities, users.disabled_at,
    users.password_reach, users.password_scope, users.password_by,
    (SELECT json_group_array(company_id) FROM user_companies WHERE user_id = users.id) AS company_ids
"""
USER_BY_EMAIL: Final = f"SELECT {USER_COLUMNS} FROM users WHERE email = ?"
USER_BY_ID: Final = f"SELECT {USER_COLUMNS} FROM users WHERE id = ?"
USERS: Final = f"SELECT {USER_COLUMNS} FROM users ORDER BY email"


def user_by_email(tx: Transaction, email: str) -> User | None:
    row = tx.record(USER_BY_EMAIL, (email.lower(),))
    return None if row is None else _user(row)


def user_by_id(tx: Transaction, user_id: int) -> User | None:
    row = tx.record(USER_BY_ID, (user_id,))
    return None if row is None else _user(row)


def language_of(tx: Transaction, user_id: int) -> str | None:
    language: str | None = tx.value("SELECT language FROM user_languages WHERE user_id = ?", (user_id,))
    return language


def set_language(tx: Transaction, user_id: int, language: str | None) -> None:
    """None: none of ours."""
    tx.execute("DELETE FROM user_languages WHERE user_id = ?", (user_id,))
    if language is not None:
        tx.execute("INSERT INTO user_languages (user_id, language) VALUES (?, ?)", (user_id, language))


def users(tx: Transaction) -> list[User]:
    return [_user(row) for row in tx.records(USERS)]


def _user(row: dict[str, Any]) -> User:
    return User(
        id=row["id"],
        email=row["email"],
        name=row["name"],
        role=row["role"],
        password_hash=row["password_hash"],
        abilities=tuple(json.loads(row["abilities"])),
        company_ids=frozenset(json.loads(row["company_ids"])),
        disabled=row["disabled_at"] is not None,
        password_reach=Reach.from_json(row["password_reach"]),
        password_voucher=Voucher(companies_from_text(row["password_scope"]), row["password_by"]),
    )


INSERT_USER: Final = """
    INSERT INTO users (email, name, password_hash, role, abilities, created_at, updated_at)
    VALUES (:email, :name, :password_hash, :role, :abilities, :now, :now)
"""
GIVE_COMPANY: Final = "INSERT INTO user_companies (user_id, company_id) VALUES (?, ?)"


def insert_user(
    tx: Transaction,
    *,
    email: str,
    name: str,
    role: str,
    password_hash: str,
    abilities: Sequence[str],
    company_ids: Iterable[int],
) -> int:
    user_id = tx.insert(
        INSERT_USER,
        {
            "email": email.lower(),
            "name": name,
            "role": role,
            "password_hash": password_hash,
            "abilities": dumps(list(abilities)),
            "now": tx.timestamp,
        },
    )
    tx.executemany(GIVE_COMPANY, [(user_id, company_id) for company_id in company_ids])
    return user_id


SET_PASSWORD: Final = """
    UPDATE users SET password_hash = :password_hash, password_scope = :scope, password_by = :by,
        password_reach = NULL, waiting_since = NULL, updated_at = :now
    WHERE id = :id
"""
REPLACE_PASSWORD: Final = "UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ?"
RENAME_USER: Final = "UPDATE users SET name = ?, updated_at = ? WHERE id = ?"
ENABLE: Final = "UPDATE users SET disabled_at = NULL, updated_at = ? WHERE id = ? AND disabled_at IS NOT NULL"
ACTIVE_TOKENS: Final = "SELECT count(*) FROM tokens WHERE user_id = ? AND revoked_at IS NULL AND expires_at > ?"
NOTE_RENEWED: Final = "UPDATE tokens SET renewed = 1 WHERE user_id = ? AND name = ? AND NOT renewed"
REVOKE_ALL: Final = "UPDATE tokens SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL"
DISABLE: Final = "UPDATE users SET disabled_at = ?, updated_at = ? WHERE id = ? AND disabled_at IS NULL"
ADMINS: Final = "SELECT count(*) FROM users WHERE role = 'platform-admin' AND disabled_at IS NULL"
OTHER_ADMINS: Final = """
    SELECT id, email, password_hash <> '' AND password_reach IS NULL, password_reach IS NOT NULL FROM users
    WHERE role = 'platform-admin' AND disabled_at IS NULL AND id <> ? ORDER BY id
"""
DELETIONS: Final = (
    *("DELETE FROM tokens WHERE user_id = ?", "DELETE FROM sessions WHERE user_id = ?"),
    *("DELETE FROM user_companies WHERE user_id = ?", "DELETE FROM users WHERE id = ?"),
)
"""The rest goes with the user's row."""
SET_EMAIL: Final = "UPDATE users SET email = ?, updated_at = ? WHERE id = ?"


SET_RIGHTS: Final = "UPDATE users SET role = ?, abilities = ?, updated_at = ? WHERE id = ?"
TAKE_COMPANIES: Final = "DELETE FROM user_companies WHERE user_id = ?"


def set_rights(
    tx: Transaction, user_id: int, role: str, abilities: Sequence[str], company_ids: Iterable[int]
) -> None:
    tx.execute(SET_RIGHTS, (role, dumps(list(abilities)), tx.timestamp, user_id))
    tx.execute(TAKE_COMPANIES, (user_id,))
    tx.executemany(GIVE_COMPANY, [(user_id, company_id) for company_id in sorted(company_ids)])


def set_password(tx: Transaction, user_id: int, password_hash: str, voucher: Voucher) -> None:
    """Sets a password that opens all that the user reaches. `voucher`: of who gave it, or its link."""
    row = {
        "password_hash": password_hash,
        "scope": companies_to_text(voucher.companies),
        "by": voucher.user_id,
        "now": tx.timestamp,
        "id": user_id,
    }
    tx.execute(SET_PASSWORD, row)


def replace_password(tx: Transaction, user_id: int, password_hash: str) -> None:
    """Sets a password that opens what the one of before has opened: whoever chose it knew that one."""
    tx.execute(REPLACE_PASSWORD, (password_hash, tx.timestamp, user_id))


def disable_user(tx: Transaction, user_id: int) -> bool:
    return tx.execute(DISABLE, (tx.timestamp, tx.timestamp, user_id)).rowcount > 0


def enable_user(tx: Transaction, user_id: int) -> bool:
    return tx.execute(ENABLE, (tx.timestamp, user_id)).rowcount > 0


def rename_user(tx: Transaction, user_id: int, name: str) -> None:
    tx.execute(RENAME_USER, (name, tx.timestamp, user_id))


def active_tokens_of(tx: Transaction, user_id: int) -> int:
    found: int = tx.value(ACTIVE_TOKENS, (user_id, tx.timestamp))
    return found


def note_renewed(tx: Transaction, user_id: int, name: str) -> None:
    tx.execute(NOTE_RENEWED, (user_id, name))


def revoke_tokens_of(tx: Transaction, user_id: int) -> int:
    """Revokes all tokens of a user; answers how many."""
    return tx.execute(REVOKE_ALL, (tx.timestamp, user_id)).rowcount


class OtherAdmin(NamedTuple):
    id: int
    email: str
    has_password: bool
    """One that opens the role."""
    waits: bool
    """Whether the role waits."""


def other_admins(tx: Transaction, user_id: int) -> list[OtherAdmin]:
    """The other active platform admins."""
    found = tx.rows(OTHER_ADMINS, (user_id,))
    return [OtherAdmin(id, email, bool(has_password), bool(waits)) for id, email, has_password, waits in found]


def delete_user(tx: Transaction, user_id: int) -> None:
    for deletion in DELETIONS:
        tx.execute(deletion, (user_id,))


def set_email(tx: Transaction, user_id: int, email: str) -> None:
    tx.execute(SET_EMAIL, (email.lower(), tx.timestamp, user_id))


def has_admin(tx: Transaction) -> bool:
    return bool(tx.value(ADMINS))


TOKEN_COLUMNS: Final = "id, user_id, name, abilities, company_ids, expires_at, revoked_at"
TOKEN_BY_JTI: Final = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE jti = ?"
TOKEN_BY_ID: Final = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE id = ?"


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


INSERT_TOKEN: Final = """
    INSERT INTO tokens (jti, user_id, name, abilities, company_ids, created_at, expires_at, signed_in)
    VALUES (:jti, :user_id, :name, :abilities, :company_ids, :now, :expires_at, :signed_in)
"""


def insert_token(
    tx: Transaction,
    *,
    jti: str,
    user_id: int,
    name: str,
    abilities: Sequence[str],
    company_ids: Sequence[int] | None,
    expires_at: str,
    signed_in: bool,
) -> int:
    return tx.insert(
        INSERT_TOKEN,
        {
            "jti": jti,
            "user_id": user_id,
            "name": name,
            "abilities": dumps(list(abilities)),
            "company_ids": None if company_ids is None else dumps(list(company_ids)),
            "now": tx.timestamp,
            "expires_at": expires_at,
            "signed_in": signed_in,
        },
    )


REVOKE_OF_COMPANY: Final = """
    UPDATE tokens SET revoked_at = ? WHERE company_ids = json_array(?) AND revoked_at IS NULL
"""
LEAVE_COMPANY: Final = """
    UPDATE tokens SET company_ids = (
        SELECT json_group_array(value) FROM json_each(tokens.company_ids) WHERE value <> :company_id
    )
    WHERE EXISTS (SELECT 1 FROM json_each(tokens.company_ids) WHERE value = :company_id)
"""


def leave_company(tx: Transaction, company_id: int) -> int:
    """Takes a company from the tokens that name it. Revokes those that have none left; answers how many."""
    revoked = tx.execute(REVOKE_OF_COMPANY, (tx.timestamp, company_id)).rowcount
    tx.execute(LEAVE_COMPANY, {"company_id": company_id})
    return revoked


REVOKE: Final = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
REVOKE_SIGNED_IN: Final = """
    UPDATE tokens SET revoked_at = :now
    WHERE user_id = :user_id AND signed_in AND revoked_at IS NULL AND expires_at > :now
"""
NOTE_USE: Final = """
    UPDATE tokens SET last_used_at = :at, last_used_from = :address
    WHERE id = :id AND coalesce(last_used_at, '') <= :at
"""
SWEEP: Final = "DELETE FROM tokens WHERE expires_at <= ?"
LIST_TOKENS: Final = """
    SELECT tokens.id, users.email AS user, tokens.name, tokens.abilities, tokens.company_ids, tokens.created_at,
        tokens.expires_at, tokens.last_used_at, tokens.revoked_at, tokens.signed_in
    FROM tokens JOIN users ON users.id = tokens.user_id ORDER BY tokens.id
"""


def revoke_token(tx: Transaction, token_id: int) -> bool:
    return tx.execute(REVOKE, (tx.timestamp, token_id)).rowcount > 0


def revoke_signed_in(tx: Transaction, user_id: int) -> int:
    """Ends the user's tokens that were made by signing in; answers how many."""
    return tx.execute(REVOKE_SIGNED_IN, {"user_id": user_id, "now": tx.timestamp}).rowcount


def note_token_uses(tx: Transaction, uses: Iterable[Mapping[str, object]]) -> None:
    """Each use has the token's `id`, when it was (`at`), and its `address`."""
    tx.executemany(NOTE_USE, uses)


def sweep_expired_tokens(tx: Transaction) -> int:
    return tx.execute(SWEEP, (tx.timestamp,)).rowcount


def list_tokens(tx: Transaction) -> list[dict[str, Any]]:
    rows = tx.records(LIST_TOKENS)
    for row in rows:
        row["abilities"] = json.loads(row["abilities"])
        row["company_ids"] = json.loads(row["company_ids"]) if row["company_ids"] else None
        row["signed_in"] = bool(row["signed_in"])
    return rows


MOST_ADDRESSES: Final = 10
HAS_SIGNED_IN_FROM: Final = """
    SELECT 1 FROM users JOIN sign_in_addresses ON sign_in_addresses.user_id = users.id
    WHERE users.email = ? AND users.disabled_at IS NULL AND sign_in_addresses.address = ?
"""
NOTE_SIGN_IN: Final = "INSERT OR REPLACE INTO sign_in_addresses (user_id, address) VALUES (?, ?)"
KEEP_RECENT_SIGN_INS: Final = """
    DELETE FROM sign_in_addresses WHERE user_id = :user_id AND position NOT IN (
        SELECT position FROM sign_in_addresses WHERE user_id = :user_id ORDER BY position DESC LIMIT :most
    )
"""
FORGET_SIGN_INS: Final = "DELETE FROM sign_in_addresses WHERE user_id = ?"


def has_signed_in_from(tx: Transaction, email: str, address: str) -> bool:
    """Whether an active user with this e-mail address signed in from this address. Only the most recent
    MOST_ADDRESSES are kept.
    """
    return tx.value(HAS_SIGNED_IN_FROM, (email.lower(), address)) is not None


def note_sign_in(tx: Transaction, user_id: int, address: str) -> None:
    tx.execute(NOTE_SIGN_IN, (user_id, address))
    tx.execute(KEEP_RECENT_SIGN_INS, {"user_id": user_id, "most": MOST_ADDRESSES})


def forget_sign_ins(tx: Transaction, user_id: int) -> None:
    tx.execute(FORGET_SIGN_INS, (user_id,))


KEYS: Final = "SELECT kid, secret FROM signing_keys ORDER BY position DESC LIMIT 2"
ADD_KEY: Final = "INSERT INTO signing_keys (kid, secret, created_at) VALUES (?, ?, ?)"
SET_KEY: Final = "UPDATE signing_keys SET secret = ? WHERE kid = ?"
KEEP_KEYS: Final = """
    DELETE FROM signing_keys
    WHERE position NOT IN (SELECT position FROM signing_keys ORDER BY position DESC LIMIT 2)
"""


def signing_keys(tx: Transaction) -> list[tuple[str, str]]:
    """The accepted keys, newest first: (kid, secret)."""
    unseal = tx.service(MasterKey).unseal
    return [(row[0], unseal(row[1])) for row in tx.rows(KEYS)]


def add_signing_key(tx: Transaction, kid: str, secret: str) -> None:
    """Adds a key, which signs from now on. The one before it is still accepted; older ones are deleted."""
    tx.execute(ADD_KEY, (kid, tx.service(MasterKey).seal(secret), tx.timestamp))
    tx.execute(KEEP_KEYS)


SECRET: Final = "SELECT value FROM secrets WHERE name = ?"
SET_SECRET: Final = "INSERT OR REPLACE INTO secrets (name, value) VALUES (?, ?)"
DROP_SECRET: Final = "DELETE FROM secrets WHERE name = ?"
KEY_SECRETS: Final = ("cursor", "vault")
"""The keys that sign cursors, and that seal texts which must not be readable in a file."""


def secret(tx: Transaction, name: str) -> str | None:
    found: str | None = tx.value(SECRET, (name,))
    return found


def set_secret(tx: Transaction, name: str, value: str) -> None:
    tx.execute(SET_SECRET, (name, value))


def drop_secret(tx: Transaction, name: str) -> bool:
    return tx.execute(DROP_SECRET, (name,)).rowcount > 0


def key_secrets(tx: Transaction) -> dict[str, str]:
    """The existing key secrets, by name."""
    kept = {name: secret(tx, name) for name in KEY_SECRETS}
    return {name: tx.service(MasterKey).unseal(value) for name, value in kept.items() if value is not None}


def are_in_clear(tx: Transaction) -> bool:
    """Whether any key secret is not sealed."""
    return any(not (secret(tx, name) or SEALED).startswith(SEALED) for name in KEY_SECRETS)


def set_key_secret(tx: Transaction, name: str, value: str) -> None:
    set_secret(tx, name, tx.service(MasterKey).seal(value))


def reseal(tx: Transaction, new: MasterKey) -> None:
    """Seals signing keys and key secrets with the newest secret of `new`."""
    for kid, key in signing_keys(tx):
        tx.execute(SET_KEY, (new.seal(key), kid))
    for name, value in key_secrets(tx).items():
        set_secret(tx, name, new.seal(value))
