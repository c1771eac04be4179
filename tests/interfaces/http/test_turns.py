"""When the event loop is overloaded, requests start in the order of the costs of their companies."""

import asyncio
import time
from collections.abc import Iterator
from time import perf_counter

import pytest

from tests.support.world import World
from wmsd.interfaces.http import request_turns
from wmsd.interfaces.http.request_turns import LONG_SECONDS, MOST_AT_ONCE, NOBODY, Turns


@pytest.fixture
async def long_turn() -> Turns:
    made = Turns()
    now = perf_counter()
    assert not made.is_long(now)
    assert made.is_long(now + 2 * LONG_SECONDS)
    return made


async def begun(waiting: Turns, costs: list[float]) -> list[float]:
    """Return the costs in the order in which their requests started."""
    order: list[float] = []

    async def request(cost: float) -> None:
        await waiting.next(cost)
        order.append(cost)

    await asyncio.gather(*(request(cost) for cost in costs))
    return order


async def test_in_a_short_turn_a_request_begins_at_once() -> None:
    made, now = Turns(), perf_counter()
    assert [made.is_long(now + part * LONG_SECONDS) for part in (0.0, 0.5, 0.9)] == [False] * 3


async def test_in_a_long_turn_whoever_costs_least_is_next_and_who_names_no_company_last(long_turn: Turns) -> None:
    assert await begun(long_turn, [NOBODY, 1.5, 0.5, NOBODY, 1.0]) == [0.5, 1.0, 1.5, NOBODY, NOBODY]


async def test_nobody_waits_for_ever(long_turn: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_turns, "LONGEST_SECONDS", 0.05)
    order: list[float] = []

    async def request(cost: float) -> None:
        await long_turn.next(cost)
        order.append(cost)

    monkeypatch.setattr(request_turns, "LONG_SECONDS", 0.0)
    first = [asyncio.ensure_future(request(NOBODY)) for _ in range(5)]
    await asyncio.sleep(0)
    time.sleep(0.1)  # noqa: ASYNC251  (a step that blocks the loop)
    await asyncio.gather(*first, request(0.0))
    assert order == [NOBODY] * 5 + [0.0]


async def test_of_equals_whoever_has_waited_longest_is_next(long_turn: Turns) -> None:
    order: list[int] = []

    async def request(number: int) -> None:
        await long_turn.next(1.0)
        order.append(number)

    await asyncio.gather(*(request(number) for number in range(20)))
    assert order == list(range(20))


async def most_at_once(made: Turns, number: int) -> int:
    """Return the largest number of requests that started in one turn."""
    waiting = [asyncio.ensure_future(made.next(1.0)) for _ in range(number)]
    await asyncio.sleep(0)
    assert made.is_long(perf_counter()), "as long as others wait"
    most = done = 0
    while done < len(waiting):
        await asyncio.sleep(0)
        before, done = done, sum(each.done() for each in waiting)
        most = max(most, done - before)
    assert not made.is_long(perf_counter())
    return most


async def test_while_turns_are_long_they_begin_one_by_one(
    long_turn: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_turns, "LONG_SECONDS", 0.0)
    assert await most_at_once(long_turn, 20) == 1


async def test_while_turns_are_short_ever_more_begin_together(long_turn: Turns) -> None:
    assert 2 <= await most_at_once(long_turn, 50) <= MOST_AT_ONCE


async def test_whose_client_has_left_takes_no_turn(long_turn: Turns) -> None:
    left = [asyncio.ensure_future(long_turn.next(0.0)) for _ in range(10)]
    there = asyncio.ensure_future(long_turn.next(1.0))
    await asyncio.sleep(0)
    for each in left:
        each.cancel()
    await asyncio.wait_for(there, 5)


@pytest.fixture
def asked(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Let every request wait, and collect the cost of each."""
    found: list[float] = []
    real = Turns.next

    async def noted(self: Turns, cost: float) -> None:
        found.append(cost)
        await real(self, cost)

    monkeypatch.setattr(request_turns, "LONG_SECONDS", -1.0)
    monkeypatch.setattr(Turns, "next", noted)
    yield found


async def test_a_request_has_the_cost_of_the_company_that_it_names(world: World, asked: list[float]) -> None:
    for number in range(3):
        answer = await world.send("POST", "/api/articles", {"code": f"A{number}", "name": "A"})
        assert answer.status == 201
    assert (await world.send("GET", "/api/articles")).status == 200
    assert asked[0] == NOBODY, "it was never used before"
    assert 0.0 < asked[-1] < NOBODY


@pytest.mark.parametrize(("path", "company"), [("/api/health", ""), ("/docs/api", "1")])
async def test_a_request_of_nobody_waits_behind_all(
    world: World, asked: list[float], path: str, company: str
) -> None:
    """The company header belongs to the API: on a page, the header does not make the caller a tenant."""
    assert (await world.send("GET", path, token="", company=company)).status == 200
    assert asked == [NOBODY]


@pytest.mark.parametrize("company", ["99", "01", "1 and more"])
async def test_a_company_that_is_made_up_comes_last_too(world: World, asked: list[float], company: str) -> None:
    await world.send("GET", "/api/articles")
    assert (await world.send("GET", "/api/articles", company=company)).status in (200, 400, 403, 422)
    assert asked[1] == NOBODY
