"""When receivers end."""

from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks import store as subscriptions

OVER: Final = "SELECT subscription_id FROM webhook_receivers WHERE ends_at <= ?"


def end_old(tx: Transaction) -> int:
    """Removes the receivers whose time is over, with their webhooks. Answers how many."""
    over = [subscription_id for (subscription_id,) in tx.rows(OVER, (tx.timestamp,))]
    for subscription_id in over:
        subscriptions.delete(tx, subscription_id)
    return len(over)
