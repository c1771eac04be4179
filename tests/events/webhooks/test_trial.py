"""Tests of a test event over the API: its key, its access, and what is recorded."""

import asyncio

import pytest

from tests.events.webhooks.hooks import Hooks
from tests.support.receivers import Received, answer
from wmsd.db.engine.sqlite import sqlite3
from wmsd.dispatch import idempotency

TEST = "/api/v2/webhooks/1/test"
KEY = {"Idempotency-Key": "k"}


async def test_a_repetition_is_answered_as_before_and_sends_nothing(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    first = await hooks.world.call("POST", TEST, headers=KEY)
    await hooks.change(url=hooks.receiver.url("/500"))
    again = await hooks.world.call("POST", TEST, headers=KEY)
    assert (again.raw, again.headers["Idempotent-Replayed"]) == (first.raw, "true")
    assert ("ETag" in first.headers, "ETag" in again.headers) == (False, False)
    assert len(hooks.received) == 1


async def test_access_is_checked_before_a_replay(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.world.call("POST", TEST, headers=KEY)
    await hooks.world.new_operator("BOX", sandbox=True)
    await hooks.world.installation.platform.write(lambda tx: tx.execute("UPDATE companies SET operator_id = 1"))
    refused = await hooks.world.call("POST", TEST, headers=KEY, status=403)
    assert refused.body["message"] == (
        "The company is a sandbox, and webhooks are not switched on for the sandboxes of its operator."
    )
    assert "X-RateLimit-Remaining" in refused.headers, "it was counted, as whatever passes the door"


async def test_what_is_not_found_is_not_kept(hooks: Hooks) -> None:
    missing = await hooks.world.call("POST", TEST, headers=KEY, status=404)
    assert missing.body["message"] == "There is no such webhook."
    await hooks.subscribe("sales_order.created")
    assert "Idempotent-Replayed" not in (await hooks.world.call("POST", TEST, headers=KEY)).headers


async def test_whose_log_is_gone_by_the_time_it_ends_is_not_found(hooks: Hooks) -> None:
    """A test whose webhook is deleted before it ends is not found.

    The receiver took its time, and the webhook's log was deleted with the webhook.
    """
    go_on = asyncio.Event()

    async def wait(writer: asyncio.StreamWriter, received: Received) -> bool:
        await go_on.wait()
        return await answer()(writer, received)

    hooks.receiver.script = [wait]
    await hooks.subscribe("sales_order.created")
    trial = asyncio.create_task(hooks.world.call("POST", TEST, headers=KEY, status=404))
    await hooks.until(lambda: len(hooks.received) == 1)
    await hooks.world.call("DELETE", "/api/v2/webhooks/1", status=204)
    await hooks.world.jobs.tidy_files()
    go_on.set()
    assert (await trial).body["message"] == "There is no such webhook."


async def test_what_came_back_is_written_down_with_the_answer_or_not_at_all(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    await hooks.subscribe("sales_order.created")
    with monkeypatch.context() as failing:
        failing.setattr(idempotency, "keep", fail)
        await hooks.world.call("POST", TEST, headers=KEY, status=500)
    assert await hooks.statuses() == ["pending"]
    again = await hooks.world.call("POST", TEST, headers=KEY)
    assert "Idempotent-Replayed" not in again.headers
    assert await hooks.statuses() == ["pending", "delivered"]


async def test_a_batch_sends_it_in_its_turn(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    requests = [
        {"method": "PATCH", "path": "/api/v2/webhooks/1", "body": {"url": hooks.receiver.url("/200")}},
        {"method": "POST", "path": TEST, "body": {}},
        {"method": "PATCH", "path": "/api/v2/webhooks/1", "body": {"url": hooks.receiver.url("/500")}},
    ]
    for replayed in (None, "true"):
        sent = await hooks.world.call("POST", "/api/v2/batch", {"requests": requests}, headers=KEY)
        responses = sent.body["responses"]
        assert [each["status"] for each in responses] == [200, 200, 200]
        assert responses[1]["body"]["status"] == "delivered"
        assert responses[1].get("headers", {}).get("Idempotent-Replayed") == replayed
    assert [each.path for each in hooks.received] == ["/200"]
