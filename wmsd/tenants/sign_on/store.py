"""The SQL of the accounts at providers that users are linked with."""

from typing import Final

from wmsd.db.engine.transaction import Transaction

LINKED: Final = "SELECT user_id FROM sign_on_identities WHERE issuer = ? AND subject = ?"
HAS_ACCOUNT: Final = "SELECT 1 FROM sign_on_identities WHERE issuer = ? AND user_id = ?"
LINK: Final = "INSERT INTO sign_on_identities (issuer, subject, user_id, linked_at) VALUES (?, ?, ?, ?)"


def linked_user(tx: Transaction, issuer: str, subject: str) -> int | None:
    """The id of the user that the account is linked with."""
    return tx.find_number(LINKED, (issuer, subject))


def has_account(tx: Transaction, issuer: str, user_id: int) -> bool:
    """Whether an account of this issuer is linked with the user."""
    return tx.value(HAS_ACCOUNT, (issuer, user_id)) is not None


def link(tx: Transaction, issuer: str, subject: str, user_id: int) -> None:
    tx.execute(LINK, (issuer, subject, user_id, tx.timestamp))


def unlink(tx: Transaction, user_id: int) -> int:
    """Ends the links of a user; answers how many."""
    return tx.execute("DELETE FROM sign_on_identities WHERE user_id = ?", (user_id,)).rowcount


def has_any_account(tx: Transaction, user_id: int) -> bool:
    return tx.value("SELECT 1 FROM sign_on_identities WHERE user_id = ?", (user_id,)) is not None
