"""Tests of the doctor's checks of webhook deliveries."""

import pytest

from tests.events.webhooks.hooks import Hooks
from tests.support.receivers import MANNERS
from wmsd.maintenance.file_checks.company_checks import Findings, examine


@pytest.fixture
async def busy(hooks: Hooks) -> Hooks:
    """Return hooks with delivery 1 delivered, 2 pending, and 3 held behind 2, and with an inactive
    subscription.
    """
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    hooks.receiver.script = [MANNERS["/500"]]
    for status in ("IN_LUCRU", "INCARCAT"):
        await hooks.world.send("PATCH", "/api/sales-orders/1", {"status": status})
    await hooks.received_count(2)
    await hooks.settled()
    await hooks.subscribe("*", active=False)
    assert await hooks.statuses() == ["delivered", "pending", "held"]
    return hooks


async def examined(hooks: Hooks) -> Findings:
    return await (await hooks.world.database()).read_long(examine)


async def test_a_file_that_was_only_used_is_right(busy: Hooks) -> None:
    assert (await examined(busy)).differences == []


NUMBERED = "the webhook deliveries of a subscription must be numbered without gaps"
DAMAGE = {
    "a gap": (
        "DELETE FROM webhook_deliveries WHERE id = 2",
        (NUMBERED, "webhook delivery 3", "2", "3"),
    ),
    "a number given twice": (
        "UPDATE webhook_deliveries SET sequence = 2 WHERE id = 3",
        (NUMBERED, "webhook delivery 3", "3", "2"),
    ),
    "a last number": (
        "UPDATE webhook_subscriptions SET last_sequence = 2 WHERE id = 1",
        (
            "the last delivery number stored in a webhook subscription must be the number of its newest delivery",
            "webhook subscription 1",
            "3",
            "2",
        ),
    ),
    "one that waits for nothing": (
        "UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL WHERE id = 2",
        (
            "a webhook delivery that waits for an earlier one must have an earlier delivery of the same record "
            "that is still to be sent",
            "webhook delivery 3",
            "an earlier open webhook delivery",
            "none",
        ),
    ),
    "an attempt that is gone": (
        "DELETE FROM webhook_attempts WHERE delivery_id = 1",
        ("the log must have every attempt of a webhook delivery", "webhook delivery 1", "1", "0"),
    ),
    "a count": (
        "UPDATE webhook_subscription_counts SET rows = 4 WHERE status = 'held'",
        (
            "the stored counts of a webhook subscription must equal the real numbers of its deliveries",
            "webhook subscription 1, deliveries that are held",
            "1",
            "4",
        ),
    ),
    "a topic too many": (
        "INSERT INTO webhook_topics VALUES ('*', 2)",
        (
            "every active webhook subscription must get its own events, and no others",
            "webhook subscription 2",
            "None",
            "*",
        ),
    ),
    "a topic too few": (
        "DELETE FROM webhook_topics WHERE event = 'sales_order.created'",
        (
            "every active webhook subscription must get its own events, and no others",
            "webhook subscription 1",
            "sales_order.created,sales_order.status_changed",
            "sales_order.status_changed",
        ),
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_each_kind_of_damage_is_named(busy: Hooks, damage: str) -> None:
    statement, expected = DAMAGE[damage]
    await (await busy.world.database()).write(lambda tx: tx.execute(statement))
    found = [(d.promise, d.record, d.expected, d.found) for d in (await examined(busy)).differences]
    assert expected in found
