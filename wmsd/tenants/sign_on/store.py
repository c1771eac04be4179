"""The SQL of the links between users and their accounts at providers."""

from typing import Final

from wmsd.db.engine.transaction import Transaction

LINKED: Final = "SELECT user_id FROM sign_on_identities WHERE issuer = ? AND subject = ?"
HAS_ACCOUNT: Final = "SELECT 1 FROM sign_on_identities WHERE issuer = ? AND user_id = ?"
LINK: Final = "INSERT INTO sign_on_identities (issuer, subject, user_id, linked_at) VALUES (?, ?, ?, ?)"


def linked_user(tx: Transaction, issuer: str, subject: str) -> int | None:
    """Return the id of the user who is linked with the account `subject` at the provider `issuer`. Return None if
    no user is linked.
    """
    return tx.find_number(LINKED, (issuer, subject))


def has_account(tx: Transaction, issuer: str, user_id: int) -> bool:
    """Return True if an account of this issuer is linked with the user."""
    return tx.value(HAS_ACCOUNT, (issuer, user_id)) is not None


def link(tx: Transaction, issuer: str, subject: str, user_id: int) -> None:
    tx.execute(LINK, (issuer, subject, user_id, tx.timestamp))


def unlink(tx: Transaction, user_id: int) -> int:
    """Delete the links of a user. Return the number of deleted links."""
    return tx.execute("DELETE FROM sign_on_identities WHERE user_id = ?", (user_id,)).rowcount


def has_any_account(tx: Transaction, user_id: int) -> bool:
    return tx.value("SELECT 1 FROM sign_on_identities WHERE user_id = ?", (user_id,)) is not None
