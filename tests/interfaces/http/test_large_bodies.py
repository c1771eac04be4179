"""Large bodies: refused with a short reply, limited by company, and read outside of the event loop."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.world import World
from wmsd.base.problems import Problem
from wmsd.dispatch.large_bodies import LARGE, ByteBudget, LargeBodies

MEGABYTE = 1000 * 1000
SMALL_ANSWER = 32 * 1024


def of(opening: str, member: str, closing: str, size: int) -> bytes:
    """Return a document of about `size` bytes that repeats the member."""
    return (opening + ",".join([member] * (size // (len(member) + 1) - 20)) + closing).encode()


LINES = '{"partner_id":1,"warehouse_id":1,"lines":['
HOSTILE = {
    "numbers that are none": of(LINES, "NaN", "]}", MEGABYTE),
    "lines that are none": of(LINES, "1", "]}", MEGABYTE),
    "empty lines": of(LINES, "{}", "]}", MEGABYTE),
    "unknown fields": b"{" + b",".join(b'"f%d":1' % place for place in range(90_000)) + b"}",
    "unknown fields in lines": of(LINES, '{"a":1,"b":1,"c":1,"d":1,"e":1}', "]}", MEGABYTE),
    "serials that are none": of(LINES + '{"article_id":1,"quantity":1,"serials":[', "1", "]}]}", MEGABYTE),
    "arrays": of(LINES, "[]", "]}", MEGABYTE),
    "one long text": b'{"notes":"' + b"x" * (MEGABYTE - 100) + b'"}',
    "one long name": b'{"' + b"x" * (MEGABYTE - 100) + b'":1}',
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
async def test_a_large_body_that_is_wrong_gets_a_short_refusal(world: World, raw: bytes) -> None:
    for path in ("/api/sales-orders", "/api/receptions", "/api/articles"):
        answer = await world.call("POST", path, raw=raw, status=422)
        assert len(answer.raw) < SMALL_ANSWER
        assert answer.body["code"] in ("VALIDATION_FAILED", "INVALID_PARTNER", "INVALID_WAREHOUSE")


@pytest.mark.parametrize("member", ["NaN", "1", "{}", "[]", '"x"'])
async def test_a_large_batch_that_is_wrong_gets_a_short_refusal(world: World, member: str) -> None:
    answer = await world.call(
        "POST", "/api/v2/batch", raw=of('{"requests":[', member, "]}", 4 * MEGABYTE), status=422
    )
    assert len(answer.raw) < SMALL_ANSWER


async def test_a_request_of_a_batch_has_the_bounds_of_one_alone(world: World) -> None:
    lines: list[Any] = [{"article_id": 1, "quantity": 1}] * 30_000
    request = {"method": "POST", "path": "/api/v2/sales-orders", "body": {"partner_id": 1, "lines": lines}}
    answer = await world.send(
        "POST", "/api/v2/batch", {"requests": [request, {"method": "GET", "path": "/api/v2/stock"}]}
    )
    assert [each["status"] for each in answer.body["responses"]] == [422, 200]
    assert len(answer.raw) < SMALL_ANSWER


async def test_a_large_document_that_is_right_is_made(world: World) -> None:
    article = await world.call(
        "POST", "/api/articles", {"code": "A", "name": "A"}, status=201, events=["article.created"]
    )
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("partners", "code,name,type\nP,P,CLIENT\n")
    await world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,1000\n")
    lines = [{"article_id": article.id, "quantity": 1, "lot_number": None, "serials": None}] * 1000
    body = {"partner_id": 1, "warehouse_id": 1, "lines": lines}
    assert len(json.dumps(body)) > LARGE
    key = {"Idempotency-Key": "large"}
    made = await world.send("POST", "/api/sales-orders", body, headers=key)
    again = await world.send("POST", "/api/sales-orders", body, headers=key)
    assert (made.status, again.status) == (201, 201)
    assert made.raw == again.raw
    assert world.installation.dispatcher.bodies.budget.held() == 0


def test_a_company_holds_its_share_and_no_more() -> None:
    budget = ByteBudget(of_a_company=100, in_all=250, fair=10, what="large requests")
    budget.hold("1", 100)
    with pytest.raises(Problem) as raised:
        budget.hold("1", 1)
    assert (raised.value.status, raised.value.headers["Retry-After"]) == (503, "2")
    budget.hold("2", 100)
    with pytest.raises(Problem):
        budget.hold("3", 60)
    budget.hold("3", 50)
    budget.hold("4", 10)  # other companies never exclude this one
    budget.release("1", 100)
    budget.hold("5", 60)
    for company, size in (("2", 100), ("3", 50), ("4", 10), ("5", 60)):
        budget.release(company, size)
    assert budget.held() == 0


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    bodies, begun = LargeBodies(), []
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()
    first = asyncio.ensure_future(
        bodies.run("1", lambda: asyncio.run_coroutine_threadsafe(gate.wait(), loop).result())
    )
    await asyncio.sleep(0)
    left = [asyncio.ensure_future(bodies.run("1", lambda: begun.append(1))) for _ in range(30)]
    await asyncio.sleep(0)
    for each in left:
        each.cancel()
    last = asyncio.ensure_future(bodies.run("1", lambda: begun.append(2)))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(first, last)
    assert begun == [2]


async def test_the_bodies_of_a_company_are_read_one_after_the_other() -> None:
    bodies, under_way, most = LargeBodies(), 0, 0
    gate = asyncio.Event()

    def work() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()
        under_way -= 1

    loop = asyncio.get_running_loop()
    several = [asyncio.ensure_future(bodies.run("1", work)) for _ in range(3)]
    await bodies.run("2", lambda: None)
    gate.set()
    await asyncio.gather(*several)
    assert most == 1
