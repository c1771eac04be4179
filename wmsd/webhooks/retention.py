"""The log is kept for 30 days; what is still open, for as long as it is."""

from typing import Final

from wmsd.base import timestamps
from wmsd.db.retention import A_CLOCK_GONE_WRONG, FORGOTTEN_AT_ONCE
from wmsd.db.transaction import Transaction
from wmsd.webhooks.rules import KEPT

FIRST_KEPT: Final = """
    SELECT id FROM webhook_deliveries WHERE created_at >= ? AND created_at <= ? ORDER BY id LIMIT 1
"""
FORGET: Final = """
    DELETE FROM webhook_deliveries WHERE id IN (
        SELECT id FROM webhook_deliveries
        WHERE id < coalesce(:first_kept, id + 1) AND status IN ('delivered', 'exhausted', 'skipped')
        ORDER BY id LIMIT :limit
    )
"""
SWEEP: Final = """
    DELETE FROM webhook_deliveries WHERE id IN (
        SELECT id FROM webhook_deliveries WHERE subscription_id = ? LIMIT ?
    )
"""


def forget_old(tx: Transaction) -> int:
    """Some of what is older than is kept, and of what deleted subscriptions have left; answers how many."""
    return _sweep(tx) or _forget(tx)


def _sweep(tx: Transaction) -> int:
    subscription_id = tx.value("SELECT subscription_id FROM webhook_leftovers LIMIT 1")
    if subscription_id is None:
        return 0
    swept = tx.execute(SWEEP, (subscription_id, FORGOTTEN_AT_ONCE)).rowcount
    if swept < FORGOTTEN_AT_ONCE:
        tx.execute("DELETE FROM webhook_leftovers WHERE subscription_id = ?", (subscription_id,))
        return max(swept, 1)
    return swept


def _forget(tx: Transaction) -> int:
    """As `db.retention.forget_old`: nothing that came after a row that is kept is forgotten."""
    recent = timestamps.to_text(tx.now - KEPT), timestamps.to_text(tx.now + A_CLOCK_GONE_WRONG)
    first_kept = tx.value(FIRST_KEPT, recent)
    return tx.execute(FORGET, {"first_kept": first_kept, "limit": FORGOTTEN_AT_ONCE}).rowcount
