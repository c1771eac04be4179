"""Tests of the stored metrics of subscriptions, and of what each attempt sent and received."""

import json
from typing import Any

from tests.events.webhooks.hooks import SECRET, Hooks
from tests.support.receivers import MANNERS, answer
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.deliveries import actions as delivery_actions
from wmsd.events.webhooks.deliveries import store as log
from wmsd.events.webhooks.figures import FIGURES, list_webhook_figures
from wmsd.events.webhooks.retention import forget_old
from wmsd.events.webhooks.rules import hour
from wmsd.events.webhooks.signing import signature

LONG_HEAD = {"Retry-After": "5", "Set-Cookie": "session=hidden", "X-Long": "x" * 2000}
CHANGING = ("pending", "held", "exhausted", "succeeded", "failed")


async def figures(hooks: Hooks) -> Any:
    text = await (await hooks.world.database()).read(lambda tx: list_webhook_figures.action(tx).json)
    return json.loads(text)["data"]


async def detail(hooks: Hooks, delivery: int = 1, webhook: int = 1) -> Any:
    read = delivery_actions.get_webhook_delivery.action
    return await (await hooks.world.database()).read(lambda tx: read(tx, webhook, delivery))


async def test_a_subscription_fares_as_its_deliveries_do(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.subscribe("article.created", name="Other")
    hooks.receiver.script = [MANNERS["/200"], MANNERS["/500"]]
    await hooks.shop.order()
    await hooks.settled()
    at = hooks.world.clock.wall
    await hooks.shop.order(status="IN_LUCRU")
    await hooks.settled()
    first, other = await figures(hooks)
    assert (first["pending"], first["held"], first["exhausted"], first["succeeded"], first["failed"]) == (
        1,
        1,
        0,
        1,
        1,
    )
    assert first["last_success_at"].startswith(f"{at:%Y-%m-%dT%H:%M}")
    assert other == {
        "id": 2,
        "is_test_receiver": False,
        "last_success_at": None,
        "credentials_missing_since": None,
        **dict.fromkeys(("pending", "held", "exhausted", "skipped", "succeeded", "failed"), 0),
    }
    hooks.receiver.script = [MANNERS["/500"]] * 4
    for wait in (31, 121, 481, 1921):
        await hooks.later(wait)
    first = (await figures(hooks))[0]
    assert (first["pending"], first["held"], first["exhausted"], first["succeeded"], first["failed"]) == (
        0,
        0,
        1,
        2,
        5,
    )
    assert await (await hooks.world.database()).read(log.counts) == {1: (0, 1)}


async def test_what_is_older_than_a_day_counts_no_more_and_is_forgotten(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.settled()
    hooks.world.clock.advance(25 * 3600)
    assert (await figures(hooks))[0]["succeeded"] == 0
    hooks.world.clock.advance(24 * 3600)
    database = await hooks.world.database()
    await database.write(forget_old)
    assert await hooks.world.rows("SELECT count(*) FROM webhook_hours") == [(0,)]


async def test_counts_go_with_what_a_deleted_subscription_leaves(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.settled()
    await hooks.world.call("DELETE", "/api/webhooks/1", status=204)
    await hooks.world.jobs.tidy_files()
    for table in ("webhook_subscription_counts", "webhook_hours", "webhook_deliveries"):
        assert await hooks.world.rows(f"SELECT count(*) FROM {table}") == [(0,)]


async def test_of_deliveries_the_figures_read_tests_only(hooks: Hooks) -> None:
    def plan(tx: Transaction) -> list[str]:
        given = {"since": hour(tx.now), "until": hour(tx.now)}
        return [row[3] for row in tx.rows(f"EXPLAIN QUERY PLAN {FIGURES}", given)]

    steps = await (await hooks.world.database()).read(plan)
    by_event = "SEARCH webhook_deliveries USING INDEX webhook_deliveries_by_event (subscription_id=? AND event=?)"
    assert [step for step in steps if "webhook_deliveries" in step] == [by_event]
    assert next(step for step in steps if step.startswith("SCAN")) == "SCAN subscription"


async def test_each_attempt_tells_what_it_sent_and_got(hooks: Hooks) -> None:
    hooks.receiver.script = [answer(503, b"down", headers=LONG_HEAD)]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.settled()
    await hooks.later(31)
    shown = await detail(hooks)
    assert shown["body"].encode() == hooks.received[0].body == hooks.received[1].body
    for attempt, received in zip(shown["attempts"], hooks.received, strict=True):
        assert attempt["url"] == hooks.receiver.url("/200")
        sent = {name.lower(): value for name, value in attempt["sent_headers"].items()}
        assert sent.items() <= received.headers.items()
        assert attempt["sent_headers"]["X-Webhook-Signature"] == signature(SECRET, received.body)
    assert [each["sent_headers"]["X-Webhook-Attempt"] for each in shown["attempts"]] == ["1", "2"]
    kept = shown["attempts"][0]["answer_headers"]
    assert (kept["Retry-After"], kept["Set-Cookie"]) == ("5", "***")
    assert sum(len(name) + len(value) for name, value in kept.items()) <= 1024


async def test_credentials_are_masked_in_what_was_sent(hooks: Hooks) -> None:
    ways: tuple[tuple[dict[str, Any], dict[str, str]], ...] = (
        ({"auth_type": "bearer", "token": "hidden-token"}, {"Authorization": "Bearer ***"}),
        ({"auth_type": "basic", "username": "ana", "password": "hidden-one"}, {"Authorization": "Basic ***"}),
        ({"auth_type": "custom", "headers": {"X-Key": "hidden-key"}}, {"X-Key": "***"}),
    )
    for number, (fields, masked) in enumerate(ways, start=1):
        await hooks.subscribe("sales_order.created", **fields)
        await hooks.world.call("POST", f"/api/v2/webhooks/{number}/test")
        shown = await detail(hooks, number, number)
        (attempt,) = shown["attempts"]
        assert masked.items() <= attempt["sent_headers"].items()
    kept = await hooks.world.rows("SELECT group_concat(sent_headers) FROM webhook_attempts")
    assert "hidden" not in kept[0][0]
    assert "YW5h" not in kept[0][0]
