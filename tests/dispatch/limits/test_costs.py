"""Tests of what companies and people cost the service, and of who is told of it."""

import asyncio
from typing import Any

import pytest

from tests.interfaces.pages.records.test_browse import EMAIL, signed_in
from tests.support.shop import Shop
from tests.support.steering import SteeredClock
from tests.support.world import UNLIMITED, World, open_world
from wmsd.dispatch.limits.costs import MOST_REMEMBERED, REMEMBERED_SECONDS, Costs, Payers
from wmsd.interfaces.http.loop_time import LoopTime
from wmsd.server.figures.schema import PayerFigures
from wmsd.server.figures.top_costs import MOST_NAMED, costs_now

ACME, ANNA, ADDRESS = "1", "7", "203.0.113.9"


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock()


@pytest.fixture
def costs(clock: SteeredClock) -> Costs:
    return Costs(clock)


def test_an_old_cost_fades_and_payers_are_forgotten(costs: Costs, clock: SteeredClock) -> None:
    everybody = Payers(ACME, ANNA, ADDRESS)
    costs.charge(everybody, 1.0)
    assert (costs.of(Payers(address=ADDRESS)), costs.of(everybody)) == ([1.0], [1.0, 1.0, 1.0])
    clock.advance(10 * REMEMBERED_SECONDS)
    assert max(costs.of(everybody)) < 0.001
    for number in range(MOST_REMEMBERED):
        costs.charge(Payers(person=str(number)), 1.0)
    assert len(list(costs)) == MOST_REMEMBERED


def test_a_request_is_charged_to_its_company_and_its_person(costs: Costs) -> None:
    costs.note(1, 7, 0.25, 100, 201)
    costs.note(1, 7, 0.25, 100, 429)
    costs.note(1, 8, 0.5, 10, 422)
    costs.note_beside(1, 7, 1.0)
    costs.note(0, 0, 9.0, 0, 200)
    [(company, cost)] = costs.most("company", 5)
    assert (company, cost.requests, cost.refused, cost.sent, cost.seconds) == ("1", 3, 1, 100, 2.0)
    assert [(name, each.seconds) for name, each in costs.most("person", 5)] == [("7", 1.5), ("8", 0.5)]


def test_whoever_cost_most_lately_comes_first(costs: Costs, clock: SteeredClock) -> None:
    costs.charge(Payers("1"), 30.0)
    clock.advance(10 * REMEMBERED_SECONDS)
    costs.charge(Payers("2"), 1.0)
    [(first, now), (second, before)] = costs.most("company", 2)
    assert (first, second) == ("2", "1")
    assert (now.lately, before.lately < 0.01, before.seconds) == (1.0, True, 30.0)


async def test_what_a_request_waits_for_is_not_its_own() -> None:
    async def work() -> str:
        end = asyncio.get_running_loop().time() + 0.05
        while asyncio.get_running_loop().time() < end:
            pass
        await asyncio.sleep(0.3)
        return "done"

    occupancy = LoopTime(work())
    assert await occupancy == "done"
    assert 0.04 < occupancy.seconds < 0.3


async def test_a_request_that_is_cancelled_or_fails_ends_as_it_would() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def wait() -> None:
        await LoopTime(work())

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        await LoopTime(fail())
    assert ended == ["cancelled"]


async def named(world: World) -> dict[str, PayerFigures]:
    found = await costs_now(world.installation)
    return {each.name: each for each in (*found.companies, *found.people)}


async def test_the_work_of_programs_and_of_people_is_charged(shop: Shop) -> None:
    world = shop.world
    visitor = await signed_in(world)
    await visitor.get("/companies/1/articles")
    begun = await named(world)
    for number in range(5):
        body = {"code": f"N-{number}", "name": "New"}
        await world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    await visitor.get("/companies/1/articles")
    after = await named(world)
    assert after["ACME"].requests - begun["ACME"].requests == 6
    assert after["ACME"].sent_bytes - begun["ACME"].sent_bytes == 5 * len('{"code": "N-0", "name": "New"}')
    assert after["ACME"].seconds > begun["ACME"].seconds
    assert after[EMAIL].requests > begun[EMAIL].requests


async def test_refusals_by_limits_are_counted(tmp_path: Any) -> None:
    limits = {"limits": {**UNLIMITED["limits"], "data_per_minute": 2}}
    async with open_world(tmp_path / "data", limits) as world:
        for _ in range(5):
            await world.send("GET", "/api/articles")
        assert (await named(world))["ACME"].refused == 3


async def test_no_more_are_named_than_a_few_and_only_those_that_are_there(world: World) -> None:
    costs = world.installation.dispatcher.costs
    for number in range(100):
        costs.charge(Payers(str(number), str(number)), 1.0)
    found = await costs_now(world.installation)
    assert {each.name for each in found.companies} <= {"ACME"}
    assert len(found.people) <= MOST_NAMED


async def test_a_site_admin_sees_at_the_page_who_makes_the_most_work(shop: Shop) -> None:
    world = shop.world
    visitor = await signed_in(world)
    assert "Highest server load" not in (await visitor.get("/today")).text
    world.installation.dispatcher.costs.charge(Payers("1"), 0.5 * REMEMBERED_SECONDS)
    shown = await visitor.get("/today")
    assert "Highest server load" in shown.text
    assert "50 %" in shown.text


async def test_nobody_else_sees_who_makes_the_most_work(shop: Shop) -> None:
    world = shop.world
    visitor = await signed_in(world, "ACME", abilities=["*"])
    world.installation.dispatcher.costs.charge(Payers("1"), 0.5 * REMEMBERED_SECONDS)
    assert "Highest server load" not in (await visitor.get("/today")).text
