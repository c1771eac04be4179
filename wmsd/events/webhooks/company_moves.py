"""What becomes of subscriptions when a company's file goes to another installation, or is copied."""

from typing import Final

from wmsd.base.vault import Vault
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks import missing_credentials

SEALED: Final = "SELECT id, credentials, previous_secret FROM webhook_subscriptions"
SEAL: Final = "UPDATE webhook_subscriptions SET credentials = ?, previous_secret = ? WHERE id = ?"
SKIP: Final = """
    UPDATE webhook_deliveries SET status = 'skipped', due_at = NULL, skipped_because = ?
    WHERE status IN ('pending', 'held')
"""
COPIED: Final = "the company is a copy; the original sends it"

Credentials = list[list[str | int | None]]
"""Of each subscription: its id, its credentials as JSON, and the previous secret while it is valid."""


def unsealed_credentials(tx: Transaction) -> Credentials:
    """In clear. Without those that this installation has not sealed."""
    vault = tx.service(Vault)
    return [
        [subscription_id, text, None if previous is None else vault.unseal(previous)]
        for subscription_id, credentials, previous in tx.rows(SEALED)
        if (text := vault.unseal(credentials)) is not None
    ]


def seal_credentials(tx: Transaction, credentials: Credentials) -> None:
    """Seals them for this installation."""
    vault = tx.service(Vault)
    for subscription_id, text, previous in credentials:
        sealed = None if previous is None else vault.seal(str(previous))
        tx.execute(SEAL, (vault.seal(str(text)), sealed, subscription_id))
        missing_credentials.over(tx, int(str(subscription_id)))


def switch_all_off(tx: Transaction) -> int:
    """Answers how many were on. What is queued waits."""
    tx.execute("DELETE FROM webhook_topics")
    return tx.execute("UPDATE webhook_subscriptions SET active = 0 WHERE active").rowcount


def skip_queued(tx: Transaction) -> int:
    """Nothing that was queued is ever sent from here. Answers how much that was."""
    return tx.execute(SKIP, (COPIED,)).rowcount
