"""Tests of reads with a time limit: a read is interrupted when nobody waits for its result, and never ends another
read.
"""

import asyncio
import time
from typing import Any

import pytest

from tests.support.world import World
from wmsd.db.engine import inline_reader
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import OutOfTime
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch import dispatcher

ENDLESS = "WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted) SELECT max(n) FROM counted"
SOON = 10.0


def endless(tx: Transaction) -> Any:
    return tx.value(ENDLESS)


def quick(tx: Transaction) -> Any:
    return tx.value("SELECT 7")


@pytest.fixture
async def database(world: World) -> Database:
    return await world.database()


async def in_time(awaitable: Any) -> Any:
    async with asyncio.timeout(SOON):
        return await awaitable


async def test_a_read_ends_at_its_time(database: Database) -> None:
    for read in (database.read, database.search):
        with pytest.raises(OutOfTime):
            await in_time(read(endless, until=time.monotonic() + 0.2))
    assert await in_time(database.read(quick)) == 7


async def test_its_wait_is_part_of_its_time(database: Database) -> None:
    until = time.monotonic() + 0.3
    several = [asyncio.ensure_future(database.search(endless, until=until)) for _ in range(5)]
    found = await in_time(asyncio.gather(*several, return_exceptions=True))
    assert [type(each) for each in found] == [OutOfTime] * 5
    assert time.monotonic() < until + SOON / 2


async def test_a_read_of_many_statements_ends_too(database: Database) -> None:
    def many(tx: Transaction) -> int:
        return sum(tx.value("SELECT 1") for _ in iter(int, 1))

    def long_ones(tx: Transaction) -> None:
        while True:
            tx.value(f"SELECT count(*) FROM ({ENDLESS.replace('max(n)', 'n')} LIMIT 100000)")

    with pytest.raises(OutOfTime):
        await in_time(database.search(long_ones, until=time.monotonic() + 0.2))


async def test_what_nobody_waits_for_is_broken_off(database: Database) -> None:
    for read in (database.read, database.search):
        left = asyncio.ensure_future(read(endless))
        await asyncio.sleep(0.2)
        left.cancel()
        assert await in_time(database.search(quick)) == 7
        await in_time(_idle(database))


async def _idle(database: Database) -> None:
    for _ in range(1000):
        if database.is_idle:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it goes on")


async def test_a_search_holds_up_no_other_read(database: Database) -> None:
    searches = [asyncio.ensure_future(database.search(endless, until=time.monotonic() + 2)) for _ in range(3)]
    await asyncio.sleep(0.1)
    assert await in_time(database.read(quick)) == 7
    assert await in_time(database.read_long(quick)) == 7
    assert await in_time(database.write(quick)) == 7
    assert not any(each.done() for each in searches)
    await in_time(asyncio.gather(*searches, return_exceptions=True))


async def test_breaking_one_off_leaves_the_next_alone(database: Database) -> None:
    """An interruption never affects the next read. The test repeats this many times."""
    for _ in range(30):
        left = asyncio.ensure_future(database.search(endless))
        followers = [asyncio.ensure_future(database.search(quick)) for _ in range(5)]
        await asyncio.sleep(0.02)
        left.cancel()
        assert await in_time(asyncio.gather(*followers)) == [7] * 5


async def test_many_moments_are_handed_over(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many quick reads are passed to threads.

    The event loop spends only some milliseconds per turn on reads, however many there are.
    """
    monkeypatch.setattr(inline_reader, "TURN_SECONDS", -1.0)
    found = await in_time(asyncio.gather(*(database.read(quick) for _ in range(20))))
    assert found == [7] * 20


async def test_a_request_that_takes_too_long_is_told_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.import_csv("articles", "code,name\nA,Alpha\n")
    monkeypatch.setattr(dispatcher, "READ_SECONDS", -1.0)
    refused = await world.call("GET", "/api/articles?search=alpha", status=503)
    assert refused.body["code"] == "SERVICE_UNAVAILABLE"
    assert refused.headers["Retry-After"] == "5"


async def test_a_close_does_not_wait_for_what_is_endless(database: Database) -> None:
    left = asyncio.ensure_future(database.search(endless, until=time.monotonic() + 0.3))
    await asyncio.sleep(0.05)
    await in_time(database.close())
    assert isinstance((await asyncio.gather(left, return_exceptions=True))[0], OutOfTime)
