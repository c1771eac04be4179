"""Tests of turns for work whose size the request determines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.support.steering import SteeredClock
from wmsd.base.problems import Problem
from wmsd.dispatch.limits.costs import Costs, Payers
from wmsd.dispatch.limits.work_admission import BOUNDS, MOST_WAITING_OF_ONE, WorkAdmission


@pytest.fixture
def work() -> WorkAdmission:
    clock = SteeredClock()
    return WorkAdmission(clock, Costs(clock))


@pytest.fixture
async def held() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def person(number: int, company: int = 1) -> Payers:
    return Payers(str(company), str(number), "203.0.113.9")


class Asking:
    """A caller who asks for a download, and holds its turn as long as the test wants."""

    def __init__(self, work: WorkAdmission, payers: Payers) -> None:
        self.has_begun = False
        self._is_over = asyncio.Event()
        self.task = asyncio.create_task(self._run(work, payers))

    async def _run(self, work: WorkAdmission, payers: Payers) -> None:
        async with work.turn("download", payers):
            self.has_begun = True
            await self._is_over.wait()

    async def end(self) -> None:
        self._is_over.set()
        await self.task
        await settle()


async def test_a_person_has_one_at_a_time_and_a_company_a_few(work: WorkAdmission) -> None:
    first, same, second, third = (Asking(work, person(number)) for number in (1, 1, 2, 3))
    other = Asking(work, person(4, company=2))
    await settle()
    assert [each.has_begun for each in (first, same, second, third, other)] == [True, False, True, False, True]
    await second.end()
    assert (same.has_begun, third.has_begun) == (False, True)
    await first.end()
    assert same.has_begun
    for each in (same, third, other):
        await each.end()
    assert work.under_way("download") == 0


async def test_of_those_who_wait_whoever_has_cost_least_is_next(work: WorkAdmission) -> None:
    first = [Asking(work, person(number, company=number)) for number in range(BOUNDS["download"].at_once)]
    dear, cheap = person(11, company=11), person(12, company=12)
    work.costs.charge(dear, 0.0, 100_000_000)
    work.costs.charge(cheap, 0.5, 0)
    later = [Asking(work, dear), Asking(work, cheap)]
    await settle()
    await first[0].end()
    assert [each.has_begun for each in later] == [False, True]
    for each in (*first[1:], *later):
        await each.end()


async def test_so_many_may_wait_and_no_more(work: WorkAdmission) -> None:
    asking = [Asking(work, person(1)) for _ in range(1 + MOST_WAITING_OF_ONE)]
    await settle()
    with pytest.raises(Problem, match="Too many downloads at the same time") as refused:
        async with work.turn("download", person(1)):
            pass
    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "5"})
    others = [Asking(work, person(number, company=number)) for number in range(2, 5)]
    await settle()
    assert all(each.has_begun for each in others)
    for each in (*asking, *others):
        await each.end()


async def test_who_gives_up_leaves_no_place_taken(work: WorkAdmission) -> None:
    first, second = Asking(work, person(1)), Asking(work, person(1))
    await settle()
    second.task.cancel()
    await settle()
    third = Asking(work, person(1))
    await settle()
    await first.end()
    assert third.has_begun
    third.task.cancel()  # while the work is running
    await settle()
    assert work.under_way("download") == 0


async def test_a_turn_that_comes_in_the_moment_of_giving_up_is_given_back(work: WorkAdmission) -> None:
    first, second = Asking(work, person(1)), Asking(work, person(1))
    await settle()
    first._is_over.set()
    await asyncio.sleep(0)  # the first has ended, and the turn of the second has come
    second.task.cancel()
    await settle()
    assert (second.has_begun, work.under_way("download")) == (False, 0)


async def test_nobody_waits_where_none_may(work: WorkAdmission, held: AsyncExitStack) -> None:
    """Work without a queue is refused immediately: an open page is told so, and its browser tries again."""
    most = BOUNDS["stream"].each["person"]
    for _ in range(most):
        await held.enter_async_context(work.turn("stream", person(1)))
    with pytest.raises(Problem, match="Too many open pages"):
        await held.enter_async_context(work.turn("stream", person(1)))
    await held.enter_async_context(work.turn("stream", person(2)))


async def test_the_turns_of_a_kind_leave_the_processor_to_others() -> None:
    clock = SteeredClock()
    work, share = WorkAdmission(clock, Costs(clock)), BOUNDS["search"].share
    async with work.turn("search", person(1)) as turn:
        turn.charge(0.1)
    begins = asyncio.create_task(work.turn("search", person(2)).__aenter__())
    done, _ = await asyncio.wait([begins], timeout=0.2)
    assert not done  # it pauses for 0.1 / share - 0.1
    assert 0.1 / share - 0.1 > 0.2
    begins.cancel()
    await settle()
    assert work.under_way("search") == 0
