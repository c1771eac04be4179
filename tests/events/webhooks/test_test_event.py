"""Tests of test events: the result is reported, and each test is sent once."""

import asyncio
import json
from pathlib import Path

from tests.events.webhooks.hooks import Hooks, open_hooks
from tests.support.authority import Authority
from tests.support.http_proxy import Proxy
from tests.support.receivers import answer
from wmsd.events.webhooks.deliveries.due_store import queue_test


async def test_a_test_event_tells_what_came_back(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", active=False)
    shown = (await hooks.world.call("POST", "/api/v2/webhooks/1/test")).body
    assert (shown["event"], shown["status"], shown["sequence"]) == ("webhook.test", "delivered", 1)
    assert [(each["response_status"], each["response_body"]) for each in shown["attempts"]] == [(200, "ok")]
    (got,) = hooks.received
    assert json.loads(got.body) == {
        "event": "webhook.test",
        "timestamp": "2026-11-20T12:00:00.000Z",
        "data": {"webhook_id": 1},
    }
    assert got.headers["x-webhook-id"] == shown["event_id"]
    assert got.headers["x-webhook-event"] == "webhook.test"
    assert got.headers["x-webhook-signature"]
    assert [each["id"] for each in await hooks.log()] == [shown["id"]]
    told = (await hooks.world.call("GET", "/api/v2/events")).body["data"]
    assert "webhook.test" not in {event["event"] for event in told}


async def test_a_test_that_fails_is_not_repeated(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    shown = (await hooks.world.call("POST", "/api/v2/webhooks/1/test")).body
    assert (shown["status"], shown["attempts"][0]["response_status"]) == ("exhausted", 500)
    await hooks.later(100_000)
    assert len(hooks.received) == 1


async def test_a_test_says_why_it_could_not_be_sent(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", url="https://nobody.invalid/")
    shown = (await hooks.world.call("POST", "/api/v2/webhooks/1/test")).body
    assert (shown["status"], shown["attempts"][0]["response_status"]) == ("exhausted", None)
    assert "nobody.invalid" in shown["attempts"][0]["error"]


async def test_events_go_through_the_proxy_of_the_settings(tmp_path: Path, authority: Authority) -> None:
    async with Proxy() as proxy, open_hooks(tmp_path / "data", authority, proxy=proxy.url) as hooks:
        await hooks.subscribe("sales_order.created")
        await hooks.world.call("POST", "/api/v2/webhooks/1/test")
        await hooks.shop.order()
        await hooks.received_count(2)
        assert {line.split(" ")[1] for line in proxy.asked} == {f"127.0.0.1:{hooks.receiver.port}"}


async def test_a_test_takes_the_next_number(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.world.call("POST", "/api/v2/webhooks/1/test")
    await hooks.shop.order()
    await hooks.received_count(3)
    assert [each.headers["x-webhook-sequence"] for each in hooks.received] == ["1", "2", "3"]


async def test_a_test_with_a_key_is_sent_once_even_from_two_at_a_time(hooks: Hooks) -> None:
    hooks.receiver.script = [answer(delay=0.2)]
    await hooks.subscribe("sales_order.created")
    path, headers = "/api/v2/webhooks/1/test", {"Idempotency-Key": "k"}
    both = await asyncio.gather(*(hooks.world.send("POST", path, headers=headers) for _ in range(2)))
    assert len({each.raw for each in both}) == 1
    assert sorted(each.headers.get("Idempotent-Replayed", "") for each in both) == ["", "true"]
    assert len(hooks.received) == 1


async def test_a_test_that_was_cut_off_is_sent_by_and_by(hooks: Hooks) -> None:
    """A test that was interrupted is sent later.

    The process stopped between writing the row and getting the answer.
    """
    await hooks.subscribe("sales_order.created")
    await (await hooks.world.database()).write(lambda tx: queue_test(tx, 1))
    await hooks.later(59)
    assert hooks.received == []
    await hooks.later(2)
    assert len(hooks.received) == 1
    assert await hooks.statuses() == ["delivered"]
