"""The SQL of switching a subscription off, which the service does when deliveries fail for days."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.receiver_rules import ADDRESS

SWITCH_OFF: Final = """
    UPDATE webhook_subscriptions
    SET active = 0, switched_off_at = ?, switched_off_because = ?, is_switch_off_audited = 0, updated_at = ?
    WHERE id = ? AND active
"""
FORGET_TOPICS: Final = "DELETE FROM webhook_topics WHERE subscription_id = ?"


def switch_off(tx: Transaction, subscription_id: int, because: str) -> None:
    """Switches it off: nothing is sent or queued until somebody switches it on again."""
    tx.execute(SWITCH_OFF, (tx.timestamp, because, tx.timestamp, subscription_id))
    tx.execute(FORGET_TOPICS, (subscription_id,))


SWITCHED_OFF: Final = """
    SELECT id, name, switched_off_because, is_switch_off_audited FROM webhook_subscriptions
    WHERE switched_off_at IS NOT NULL AND NOT active AND url <> ?
"""
NOTE_AUDITED: Final = "UPDATE webhook_subscriptions SET is_switch_off_audited = 1 WHERE id = ?"


class SwitchedOff(NamedTuple):
    """A subscription that the service itself has switched off. A test receiver is none: it plays being gone."""

    id: int
    name: str
    because: str
    is_audited: int


def switched_off(tx: Transaction) -> list[SwitchedOff]:
    return [SwitchedOff(*row) for row in tx.rows(SWITCHED_OFF, (ADDRESS,))]


def note_audited(tx: Transaction, subscription_ids: Iterable[int]) -> None:
    tx.executemany(NOTE_AUDITED, [(subscription_id,) for subscription_id in subscription_ids])
