"""Tests of the bounds of a batch: it has a budget of bytes and of time, and a sub-request beyond the budget is
refused.
"""

from typing import Any

import pytest

from tests.support.shop import Shop
from tests.support.world import World
from wmsd.dispatch import batch
from wmsd.dispatch.large_bodies import ByteBudget

READ = {"method": "GET", "path": "/api/v2/articles?per_page=10"}


async def send(world: World, *requests: dict[str, Any]) -> list[tuple[int, str]]:
    answer = await world.send("POST", "/api/v2/batch", {"requests": list(requests)})
    assert answer.status == 200
    return [(each["status"], each["body"].get("message", "")) for each in answer.body["responses"]]


@pytest.fixture
async def stocked(world: World) -> World:
    await world.import_csv("articles", "code,name\n" + "".join(f"A{n},Article {n}\n" for n in range(10)))
    return world


async def test_beyond_its_bytes_a_batch_does_nothing_more(stocked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len((await stocked.call("GET", READ["path"])).raw)
    monkeypatch.setattr(batch, "MOST_BYTES", int(size * 2.5))
    write = {"method": "POST", "path": "/api/v2/sales-orders", "body": {}}
    found = await send(stocked, READ, READ, READ, {"method": "GET", "path": "/api/v2/meta"}, write, write)
    assert [status for status, _ in found] == [200, 200, 413, 413, 413, 413]
    assert all("another batch" in message for _, message in found[2:])


async def test_what_is_small_is_not_done_either_after_the_first_that_has_no_room(
    stocked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first refusal for lack of room, small sub-requests are refused too.

    Otherwise a client that repeats everything from the first refusal on would do them twice.
    """
    size = len((await stocked.call("GET", READ["path"])).raw)
    monkeypatch.setattr(batch, "MOST_BYTES", int(size * 1.5))
    hook = {"name": "W", "url": "https://example.com/", "events": ["*"], "secret": "x" * 32}
    write = {"method": "POST", "path": "/api/v2/webhooks", "body": hook}
    assert [status for status, _ in await send(stocked, write, READ, READ, write)] == [201, 200, 413, 413]
    assert len((await stocked.call("GET", "/api/webhooks")).body["data"]) == 1


async def test_a_write_beyond_the_bytes_is_not_done(stocked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len((await stocked.call("GET", READ["path"])).raw)
    monkeypatch.setattr(batch, "MOST_BYTES", size)
    hook = {"name": "W", "url": "https://example.com/", "events": ["*"], "secret": "x" * 32}
    write = {"method": "POST", "path": "/api/v2/webhooks", "body": hook}
    assert [status for status, _ in await send(stocked, READ, write)] == [200, 413]
    assert (await stocked.call("GET", "/api/webhooks")).body["data"] == []


async def test_what_begins_too_late_is_refused(stocked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MOST_SECONDS", -1.0)
    ((status, message),) = await send(stocked, READ)
    assert status == 503
    assert "another batch" in message


async def test_what_a_company_gathers_is_bounded(stocked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers that a company collects are bounded, over all of its running batches.

    Nothing of them is left behind.
    """
    size = len((await stocked.call("GET", READ["path"])).raw)
    budget = ByteBudget(of_a_company=2 * size, in_all=10 * size, fair=0, what="large batches")
    monkeypatch.setattr(stocked.installation.dispatcher, "kept_answers", budget)
    small = {"method": "GET", "path": "/api/v2/meta"}
    assert [status for status, _ in await send(stocked, READ, READ, READ, small)] == [200, 200, 503, 503]
    assert budget.held() == 0


async def test_large_answers_of_writes_end_a_batch_too(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    order = await shop.order({"article_code": "A", "quantity": 0.001}, notes="n" * 4000)
    monkeypatch.setattr(batch, "MOST_BYTES", 3 * len(order.raw))
    monkeypatch.setattr(batch, "MOST_UNDER_WAY", 2)
    there, back = (
        {"method": "PATCH", "path": "/api/v2/sales-orders/1/status", "body": {"status": status}}
        for status in ("IN_LUCRU", "CREAT")
    )
    found = await send(shop.world, *[there, back] * 5)
    statuses = [status for status, _ in found]
    assert statuses[:4] == [200] * 4
    assert set(statuses[4:]) == {413}
    assert (await shop.world.call("GET", "/api/sales-orders/1")).body["status"] == "CREAT"
