"""Changes to subscriptions when a company's file moves to another installation, or is copied."""

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
COPIED: Final = "the company is a copy; only the original company sends this delivery"

Credentials = list[list[str | int | None]]
"""A list of three values for each subscription: its id, its credentials as JSON text, and its previous secret or
None. The credentials and the secret are in clear text.
"""


def unsealed_credentials(tx: Transaction) -> Credentials:
    """Return the credentials of all subscriptions in clear text. Leave out those that this installation cannot
    open.
    """
    vault = tx.service(Vault)
    return [
        [subscription_id, text, None if previous is None else vault.unseal(previous)]
        for subscription_id, credentials, previous in tx.rows(SEALED)
        if (text := vault.unseal(credentials)) is not None
    ]


def seal_credentials(tx: Transaction, credentials: Credentials) -> None:
    """Seal the credentials with the keys of this installation."""
    vault = tx.service(Vault)
    for subscription_id, text, previous in credentials:
        sealed = None if previous is None else vault.seal(str(previous))
        tx.execute(SEAL, (vault.seal(str(text)), sealed, subscription_id))
        missing_credentials.over(tx, int(str(subscription_id)))


def switch_all_off(tx: Transaction) -> int:
    """Switch all subscriptions off. Return how many were on before. Queued deliveries stay in the queue."""
    tx.execute("DELETE FROM webhook_topics")
    return tx.execute("UPDATE webhook_subscriptions SET active = 0 WHERE active").rowcount


def skip_queued(tx: Transaction) -> int:
    """Skip all queued deliveries, so that this installation never sends them. Return how many were skipped."""
    return tx.execute(SKIP, (COPIED,)).rowcount
