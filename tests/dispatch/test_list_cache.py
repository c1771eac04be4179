"""Tests of cached list pages: they are valid until something is written, and callers see no difference."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.shop import Shop, open_shop
from tests.support.world import UNLIMITED, Answer, World, open_world
from wmsd.contract.route import Route
from wmsd.dispatch.call import Call, Reply
from wmsd.dispatch.list_cache import MOST_ASKED, KeptLists, Place, place_of
from wmsd.dispatch.replies import SHORT
from wmsd.interfaces.service import SERVED

PLACE = (1, "list_articles", "/api/articles")


def a_call(route: Route) -> Call:
    return Call(route.operation, route.method, route.path, "127.0.0.1", "1")


KEPT = [route for route in SERVED if place_of(a_call(route), 1) is not None]
"""The routes whose answers are cached."""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Open the shop of a server that uses its files exclusively, as a server normally does."""
    async with open_world(tmp_path / "data", UNLIMITED, alone=True) as world:
        yield await open_shop(world)


def forget(world: World) -> None:
    world.installation.dispatcher._kept_lists = KeptLists()


def kept(world: World) -> int:
    return len(world.installation.dispatcher._kept_lists._kept)


async def read(lists: KeptLists, place: Place, state: int, body: bytes, status: int = 200) -> None:
    reading = asyncio.get_running_loop().create_future()
    lists.keep(place, state, reading)
    reading.set_result(Reply(status, body, {"ETag": "1"}))
    await asyncio.sleep(0)


async def keep(lists: KeptLists, place: Place, state: int, body: bytes, status: int = 200) -> None:
    """Ask for the same page twice, after which it is cached."""
    for _ in range(2):
        await read(lists, place, state, body, status)


async def test_a_page_is_found_as_long_as_the_file_is_in_its_state() -> None:
    lists = KeptLists()
    assert lists.find(PLACE, 7) is None
    await keep(lists, PLACE, 7, b"page")
    assert lists.find(PLACE, 7) == Reply(200, b"page", {"ETag": "1"})
    assert [lists.find(PLACE, 8), lists.find(PLACE, None), lists.find((2, *PLACE[1:]), 7)] == [None] * 3
    await keep(lists, PLACE, 8, b"other")
    assert lists.find(PLACE, 7) is None


async def test_what_nobody_asks_for_again_is_not_kept() -> None:
    lists = KeptLists()
    for number in range(MOST_ASKED + 1):
        await read(lists, (number, "list"), 7, b"page")
    await read(lists, (0, "list"), 7, b"page")
    assert not lists._kept, "it was too long ago"
    await read(lists, (MOST_ASKED, "list"), 7, b"page")
    assert list(lists._kept) == [(MOST_ASKED, "list")]


async def test_a_refusal_and_a_long_list_are_not_kept() -> None:
    lists = KeptLists()
    await keep(lists, PLACE, 7, b"", 403)
    await keep(lists, PLACE, 7, b"x" * (SHORT + 1))
    assert lists.find(PLACE, 7) is None


async def test_those_that_were_asked_for_last_are_kept_within_the_bytes() -> None:
    lists = KeptLists(most_bytes=50_000)
    for number in range(30):
        await keep(lists, (number, "list"), 7, b"x" * 9_000)
        assert lists.find((0, "list"), 7) is not None, "it is asked for all the time"
    there = [number for number in range(30) if lists.find((number, "list"), 7) is not None]
    assert there == [0, 27, 28, 29]
    await keep(lists, (30, "x" * 60_000), 7, b"")
    assert not lists._kept, "an address counts too"
    assert lists._bytes == 0


def test_the_lists_of_a_company_are_kept_and_nothing_else() -> None:
    paths = {route.path for route in KEPT}
    assert paths >= {"/api/articles", "/api/v2/stock", "/api/sales-orders", "/api/v2/events", "/api/partners"}
    others = {"/api/articles/{id}", "/api/companies", "/api/webhooks", "/api/integrations/etsm/orders"}
    assert not paths & others
    assert {route.method for route in KEPT} == {"GET"}


@pytest.mark.parametrize("route", KEPT, ids=lambda route: route.path)
async def test_what_a_list_shows_follows_from_the_file_alone(shop: Shop, route: Route) -> None:
    """A list depends only on the file, so it is the same a month later. Otherwise it could not be cached."""
    await shop.order()
    hook = {"name": "W", "url": "https://8.8.8.8/", "events": ["*"], "secret": "x" * 32}
    await shop.world.call("POST", "/api/v2/webhooks", hook, status=201)
    path = route.path.replace("{id}", "1")
    answers = list[Answer]()
    for _ in range(2):
        forget(shop.world)
        answers += [await shop.world.call("GET", path) for _ in range(3)]
        assert kept(shop.world) == 1
        shop.world.clock.advance(30 * 24 * 3600)
    assert len({answer.raw for answer in answers}) == 1
    assert len({answer.headers["ETag"] for answer in answers}) == 1
    assert len({answer.headers.get("Link") for answer in answers}) == 1


async def test_each_write_is_in_the_next_answer(shop: Shop) -> None:
    for number in range(20):
        await shop.world.send("PATCH", "/api/articles/1", {"name": f"name {number}"})
        for _ in range(3):
            shown = (await shop.world.call("GET", "/api/articles")).body["data"][0]
            assert shown["name"] == f"name {number}"


async def test_whoever_reads_beside_a_writer_never_sees_less_than_before(shop: Shop) -> None:
    is_over = False

    async def read() -> int:
        seen, times = [0], 0
        while not is_over:
            seen.append(len((await shop.world.send("GET", "/api/v2/sales-orders")).body["data"]))
            times += 1
        assert seen == sorted(seen)
        return times

    readers = [asyncio.ensure_future(read()) for _ in range(4)]
    for number in range(1, 31):
        await shop.order({"article_id": 1, "quantity": 0.1})
        shown = (await shop.world.send("GET", "/api/v2/sales-orders")).body["data"]
        assert len(shown) == number
    is_over = True
    assert min(await asyncio.gather(*readers)) > 0


async def test_each_has_the_answer_to_what_was_asked(shop: Shop) -> None:
    """Each request gets its own answer: pages, filters, versions and companies are distinguished."""
    other = await shop.world.new_company("OTHER")
    asked = ["/api/articles", "/api/articles?per_page=1", "/api/articles?per_page=1&page=2", "/api/stock"]
    first = [(await shop.world.call("GET", path)).raw for path in asked]
    assert len(set(first)) == len(first)
    for _ in range(2):
        assert [(await shop.world.call("GET", path)).raw for path in asked] == first
    assert (await shop.world.call("GET", "/api/articles", company=other)).body["data"] == []


async def test_a_file_that_is_gone_has_no_pages(shop: Shop) -> None:
    for _ in range(3):
        await shop.world.call("GET", "/api/articles")
    file = (await shop.world.database()).path
    file.rename(file.with_name("aside.db"))
    assert (await shop.world.send("GET", "/api/articles")).status == 503
    file.with_name("aside.db").rename(file)


async def test_a_kept_page_is_refused_as_any_other(shop: Shop) -> None:
    for _ in range(3):
        await shop.world.call("GET", "/api/articles")
    assert kept(shop.world) == 1
    await shop.world.call("GET", "/api/articles", token="", status=401)
    stranger = await shop.world.new_token("admin@example.com", ["stock:read"])
    await shop.world.call("GET", "/api/articles", token=stranger, status=403)
    await shop.world.set_module("ACME", "articles", enabled=False)
    await shop.world.call("GET", "/api/articles", status=403)
