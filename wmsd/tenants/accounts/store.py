"""The SQL of users: their rights, passwords, languages and time zones, and the addresses of their sign-ins."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from wmsd.base.email_addresses import forms_of_mailbox
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import insert_row, update_row
from wmsd.tenants.accounts.reach import LinkCreator, Reach, companies_from_text, companies_to_text
from wmsd.tenants.accounts.rules import User

USER_COLUMNS: Final = """
    users.id, users.email, users.name, users.role, users.password_hash, users.abilities, users.disabled_at,
    users.password_reach, users.password_scope, users.password_by,
    (SELECT json_group_array(company_id) FROM user_companies WHERE user_id = users.id) AS company_ids
"""
USER_BY_EMAIL: Final = f"SELECT {USER_COLUMNS} FROM users WHERE email = ?"
USER_BY_ID: Final = f"SELECT {USER_COLUMNS} FROM users WHERE id = ?"
USERS: Final = f"SELECT {USER_COLUMNS} FROM users ORDER BY email"


def user_by_email(tx: Transaction, email: str) -> User | None:
    """Return the user with this e-mail address, or None.

    In data from versions before 1.2, several users may have the same address in different Unicode forms. In this
    case return the user whose stored form is exactly `email` in lower case.
    """
    return next(users_with_mailbox(tx, email), None)


def users_with_mailbox(tx: Transaction, email: str) -> Iterator[User]:
    """Yield the users with this e-mail address. In data from versions before 1.2, several users may have the same
    address in different Unicode forms.
    """
    rows = (tx.record(USER_BY_EMAIL, (form,)) for form in forms_of_mailbox(email))
    return (_user(row) for row in rows if row is not None)


def user_by_id(tx: Transaction, user_id: int) -> User | None:
    row = tx.record(USER_BY_ID, (user_id,))
    return None if row is None else _user(row)


def known_user(tx: Transaction, user_id: int) -> User:
    """Return the user with this id, which must exist."""
    user = user_by_id(tx, user_id)
    assert user is not None
    return user


def language_of(tx: Transaction, user_id: int) -> str | None:
    return tx.find_text("SELECT language FROM user_languages WHERE user_id = ?", (user_id,))


def set_language(tx: Transaction, user_id: int, language: str | None) -> None:
    """Store the user's language. None removes the choice."""
    tx.execute("DELETE FROM user_languages WHERE user_id = ?", (user_id,))
    if language is not None:
        tx.execute("INSERT INTO user_languages (user_id, language) VALUES (?, ?)", (user_id, language))


TIME_ZONE_OF: Final = "SELECT time_zone FROM user_time_zones WHERE user_id = ?"
CHOOSE_TIME_ZONE: Final = "INSERT INTO user_time_zones (user_id, time_zone) VALUES (?, ?)"


def time_zone_of(tx: Transaction, user_id: int) -> str | None:
    return tx.find_text(TIME_ZONE_OF, (user_id,))


def set_time_zone(tx: Transaction, user_id: int, name: str | None) -> None:
    """Store the user's time zone. With None, remove it: the time zone of the company or the installation then
    applies.
    """
    tx.execute("DELETE FROM user_time_zones WHERE user_id = ?", (user_id,))
    if name is not None:
        tx.execute(CHOOSE_TIME_ZONE, (user_id, name))


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
        password_link_creator=LinkCreator(companies_from_text(row["password_scope"]), row["password_by"]),
    )


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
    columns = {
        "email": email,
        "name": name,
        "role": role,
        "password_hash": password_hash,
        "abilities": dumps(list(abilities)),
    }
    user_id = insert_row(tx, "users", columns)
    tx.executemany(GIVE_COMPANY, [(user_id, company_id) for company_id in company_ids])
    return user_id


OTHER_ADMINS: Final = f"""
    SELECT {USER_COLUMNS} FROM users
    WHERE role = 'platform-admin' AND disabled_at IS NULL AND id <> ? ORDER BY id
"""
DELETIONS: Final = (
    *("DELETE FROM tokens WHERE user_id = ?", "DELETE FROM sessions WHERE user_id = ?"),
    *("DELETE FROM user_companies WHERE user_id = ?", "DELETE FROM users WHERE id = ?"),
)
"""The statements that delete a user. The last statement deletes the row in `users`. This also deletes all rows
that refer to the user in tables without a statement here.
"""
SET_RIGHTS: Final = "UPDATE users SET role = ?, abilities = ?, updated_at = ? WHERE id = ?"


def update_user(tx: Transaction, user_id: int, columns: Mapping[str, object]) -> None:
    update_row(tx, "users", user_id, columns)


def set_rights(
    tx: Transaction, user_id: int, role: str, abilities: Sequence[str], company_ids: Iterable[int]
) -> None:
    tx.execute(SET_RIGHTS, (role, dumps(list(abilities)), tx.timestamp, user_id))
    tx.execute("DELETE FROM user_companies WHERE user_id = ?", (user_id,))
    tx.executemany(GIVE_COMPANY, [(user_id, company_id) for company_id in sorted(company_ids)])


def set_password(tx: Transaction, user_id: int, password_hash: str, link_creator: LinkCreator) -> None:
    """Set a password that gives the user all rights. From now on, no right waits for a new password.

    `link_creator` is the admin who set the password, or who created the link for the password.
    """
    columns = {
        "password_hash": password_hash,
        "password_scope": companies_to_text(link_creator.companies),
        "password_by": link_creator.user_id,
        "password_reach": None,
        "waiting_since": None,
    }
    update_user(tx, user_id, columns)


def other_admins(tx: Transaction, user_id: int) -> list[User]:
    """Return the active platform admins except the user `user_id`."""
    return [_user(row) for row in tx.records(OTHER_ADMINS, (user_id,))]


def delete_user(tx: Transaction, user_id: int) -> None:
    for deletion in DELETIONS:
        tx.execute(deletion, (user_id,))


def has_admin(tx: Transaction) -> bool:
    return bool(tx.value("SELECT count(*) FROM users WHERE role = 'platform-admin' AND disabled_at IS NULL"))


MOST_ADDRESSES: Final = 10
HAS_SIGNED_IN_FROM: Final = """
    SELECT 1 FROM users JOIN sign_in_addresses ON sign_in_addresses.user_id = users.id
    WHERE users.email = ? AND users.disabled_at IS NULL AND sign_in_addresses.address = ?
"""
KEEP_RECENT_SIGN_INS: Final = """
    DELETE FROM sign_in_addresses WHERE user_id = :user_id AND position NOT IN (
        SELECT position FROM sign_in_addresses WHERE user_id = :user_id ORDER BY position DESC LIMIT :most
    )
"""


def has_signed_in_from(tx: Transaction, email: str, address: str) -> bool:
    """Return True if the active user with the e-mail address `email` has signed in from this client address.
    `email` must equal the stored address exactly. Only the latest MOST_ADDRESSES client addresses of a user are
    stored.
    """
    return tx.value(HAS_SIGNED_IN_FROM, (email, address)) is not None


def note_sign_in(tx: Transaction, user_id: int, address: str) -> None:
    tx.execute("INSERT OR REPLACE INTO sign_in_addresses (user_id, address) VALUES (?, ?)", (user_id, address))
    tx.execute(KEEP_RECENT_SIGN_INS, {"user_id": user_id, "most": MOST_ADDRESSES})


def forget_sign_ins(tx: Transaction, user_id: int) -> None:
    tx.execute("DELETE FROM sign_in_addresses WHERE user_id = ?", (user_id,))
