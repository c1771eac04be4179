"""Deletes deliveries from the log after 30 days. An open delivery stays longer, and so do all later deliveries of
its subscription. The stored deliveries of a subscription therefore have no gap.
"""

from typing import Final

from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.retention import A_CLOCK_GONE_WRONG, BEYOND_ALL, FORGOTTEN_AT_ONCE
from wmsd.events.webhooks.rules import HOURS_KEPT, KEPT, hour

FIRST_KEPT: Final = """
    SELECT id FROM webhook_deliveries WHERE created_at >= ? AND created_at <= ? ORDER BY id LIMIT 1
"""
FORGET: Final = """
    WITH first_open AS MATERIALIZED (
        SELECT subscription_id, min(id) AS id FROM webhook_deliveries INDEXED BY webhook_deliveries_open
        WHERE status IN ('pending', 'held') GROUP BY subscription_id
    )
    DELETE FROM webhook_deliveries WHERE id IN (
        SELECT old.id FROM webhook_deliveries AS old LEFT JOIN first_open USING (subscription_id)
        WHERE old.id < :first_kept AND old.id < coalesce(first_open.id, :first_kept)
        ORDER BY old.id LIMIT :limit
    )
"""
SWEEP: Final = """
    DELETE FROM webhook_deliveries WHERE id IN (
        SELECT id FROM webhook_deliveries WHERE subscription_id = ? LIMIT ?
    )
"""


FORGET_HOURS: Final = "DELETE FROM webhook_hours WHERE hour < ? OR hour > ?"


def forget_old(tx: Transaction) -> int:
    """Delete some deliveries that are too old, or whose subscription was deleted. Return how many were deleted."""
    tx.execute(FORGET_HOURS, (hour(tx.now - HOURS_KEPT), hour(tx.now + A_CLOCK_GONE_WRONG)))
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
    """Delete old deliveries, a limited number per call. Return how many were deleted.

    The deletion stops at the first delivery that is not old. All deliveries after it stay, as in
    `db.sql.retention.forget_old`. In each subscription, the first open delivery and all deliveries after it stay
    too.
    """
    recent = timestamps.to_text(tx.now - KEPT), timestamps.to_text(tx.now + A_CLOCK_GONE_WRONG)
    first_kept = tx.value(FIRST_KEPT, recent)
    return tx.execute(FORGET, {"first_kept": first_kept or BEYOND_ALL, "limit": FORGOTTEN_AT_ONCE}).rowcount
