"""Tests of the pace of people's writes on the pages: people at work wait, and a person who sends without end slows
only himself.
"""

import asyncio
from collections import Counter

import pytest

from tests.support.steering import SteeredClock, SteeredSleep
from wmsd.base.problems import Problem
from wmsd.dispatch.limits.page_writes import COMPANY, MOST_LINES, PATIENCE, PERSON, PageWrites


class Floor:
    """People at work, with a controlled clock."""

    def __init__(self) -> None:
        self.clock = SteeredClock()
        self.sleep = SteeredSleep(self.clock)
        self.writes = PageWrites(self.clock, self.sleep)
        self.done: list[tuple[str, float]] = []
        """The writes that were done, with their times in seconds from the start."""
        self.refused: list[tuple[str, str]] = []
        """The refused writes, with the seconds that their senders are told to wait."""
        self._began = self.clock.monotonic()

    def send(self, name: str, person: int, company: int | None = 1) -> "asyncio.Task[None]":
        return asyncio.create_task(self._send(name, person, company))

    async def _send(self, name: str, person: int, company: int | None) -> None:
        try:
            await self.writes.turn(person, company)
        except Problem as problem:
            assert problem.status == 429
            self.refused.append((name, problem.headers["Retry-After"]))
        else:
            self.done.append((name, self.clock.monotonic() - self._began))


@pytest.fixture
def floor() -> Floor:
    return Floor()


async def test_a_burst_has_its_turns_at_once_and_what_follows_waits_in_its_order(floor: Floor) -> None:
    for number in range(PERSON.at_once + 20):
        floor.send(str(number), 1)
    await floor.sleep.advance(0)
    assert len(floor.done) == PERSON.at_once
    await floor.sleep.advance(PATIENCE)
    assert [name for name, _ in floor.done] == [str(number) for number in range(PERSON.at_once + 20)]
    waits = [moment for _, moment in floor.done[PERSON.at_once :]]
    assert waits == pytest.approx([number / PERSON.a_second for number in range(1, 21)])
    assert floor.refused == []


async def test_the_burst_comes_back_with_time(floor: Floor) -> None:
    for _ in range(3):
        for number in range(PERSON.at_once):
            floor.send(str(number), 1)
        await floor.sleep.advance(0)
        assert floor.sleep.asleep == 0
        await floor.sleep.advance(PERSON.at_once / PERSON.a_second)


async def test_eight_handhelds_in_bursts_of_twenty_scans_a_second(floor: Floor) -> None:
    """Eight people scan for five seconds of every twenty.

    No scan is refused, and none waits as long as five seconds.
    """
    sent = dict[str, float]()
    for second in range(60):
        if second % 20 < 5:
            for person in range(8):
                for scan in range(20):
                    name = f"{person} {second} {scan}"
                    sent[name] = second
                    floor.send(name, person)
        await floor.sleep.advance(1)
    await floor.sleep.advance(PATIENCE)
    assert floor.refused == []
    assert len(floor.done) == len(sent) == 8 * 20 * 15
    assert max(moment - sent[name] for name, moment in floor.done) < 5


async def test_who_sends_without_end_slows_only_himself(floor: Floor) -> None:
    for second in range(30):
        for number in range(200):
            floor.send(f"hostile {number}", 1)
        await floor.sleep.advance(0)
        floor.send(f"honest {second}", 2)
        floor.send(f"stranger {second}", 3, company=2)
        await floor.sleep.advance(1)
    honest = [moment for name, moment in floor.done if name.startswith(("honest", "stranger"))]
    assert honest == [second for second in range(30) for _ in range(2)], "each at once"
    count = Counter(name.split()[0] for name, _ in floor.done)
    assert count["hostile"] <= PERSON.at_once + 30 * PERSON.a_second + 1
    told = {int(seconds) for name, seconds in floor.refused}
    assert told == {1}, "he is told when he may send again"


async def test_the_people_of_a_company_share_its_pace(floor: Floor) -> None:
    people = COMPANY.at_once // PERSON.at_once + 2
    for number in range(PERSON.at_once):
        for person in range(people):
            floor.send(f"{person} {number}", person)
    await floor.sleep.advance(0)
    assert len(floor.done) == COMPANY.at_once
    await floor.sleep.advance(1)
    assert len(floor.done) == COMPANY.at_once + COMPANY.a_second
    await floor.sleep.advance(PATIENCE)
    assert (len(floor.done), floor.refused) == (people * PERSON.at_once, [])


async def test_so_many_of_a_company_wait_and_no_more(floor: Floor) -> None:
    """A limited number of a company's writes wait.

    Each person waits for a turn of his own, so the company's queue is not full.
    """
    people = COMPANY.waiting // PERSON.waiting + 1
    for person in range(people):
        for number in range(PERSON.at_once + PERSON.waiting):
            floor.send(f"{person} {number}", person)
    await floor.sleep.advance(0)
    assert floor.sleep.asleep == COMPANY.waiting
    assert floor.refused
    floor.send("stranger", 100, company=2)
    await floor.sleep.advance(0)
    assert floor.done[-1][0] == "stranger"
    await floor.sleep.advance(2 * PATIENCE)
    assert floor.sleep.asleep == 0


async def test_a_write_is_refused_that_waits_too_long_in_both_queues(floor: Floor) -> None:
    """A write is refused if it waits too long in both queues together.

    When it arrived, the queue of the company was short.
    """
    for number in range(PERSON.at_once + 95):
        floor.send(f"first {number}", 1)
    await floor.sleep.advance(9)
    for person in range(2, 14):
        for number in range(PERSON.at_once):
            floor.send(f"{person} {number}", person)
    await floor.sleep.advance(2 * PATIENCE)
    assert {name for name, _ in floor.refused} == {f"first {PERSON.at_once + number}" for number in range(90, 95)}
    assert {int(seconds) for _, seconds in floor.refused} <= {5, 6, 7}


async def test_a_write_of_the_installation_has_the_pace_of_its_person_only(floor: Floor) -> None:
    for number in range(PERSON.at_once + 1):
        floor.send(str(number), 1, company=None)
    await floor.sleep.advance(0)
    assert (len(floor.done), floor.sleep.asleep) == (PERSON.at_once, 1)


async def test_whoever_goes_away_waits_no_longer(floor: Floor) -> None:
    waiting = [floor.send(str(number), 1) for number in range(PERSON.at_once + PERSON.waiting)][PERSON.at_once :]
    await floor.sleep.advance(0)
    assert floor.sleep.asleep == PERSON.waiting
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert floor.sleep.asleep == 0
    assert all(not line.waiting for line in floor.writes._lines.values())
    await floor.sleep.advance(PATIENCE)
    assert len(floor.done) == PERSON.at_once


async def test_those_who_send_nothing_any_more_are_forgotten(floor: Floor) -> None:
    for person in range(MOST_LINES):
        await floor.writes.turn(person, None)
    floor.clock.advance(60)
    await floor.writes.turn(1, 1)
    assert len(floor.writes._lines) == 2
