"""Concurrent requests: one of two wins, nothing is lost, and a client that disconnects breaks nothing."""

import asyncio
from collections import Counter

import aiohttp

from tests.support.world import World


async def test_one_of_many_gets_the_code(world: World) -> None:
    answers = await asyncio.gather(
        *(world.send("POST", "/api/articles", {"code": "LAST", "name": str(place)}) for place in range(20))
    )
    assert Counter(answer.status for answer in answers) == {201: 1, 422: 19}
    assert (await world.call("GET", "/api/articles")).body["meta"]["total"] == 1


async def test_changes_of_many_are_all_kept_and_all_told(world: World) -> None:
    await world.call("POST", "/api/articles", {"code": "A", "name": "A"}, status=201, events=["article.created"])
    before = await world.last_event()
    answers = await asyncio.gather(
        *(world.send("PATCH", "/api/articles/1", {"name": f"name {place}"}) for place in range(30))
    )
    assert {answer.status for answer in answers} == {200}
    told = [data["name"] for _, data in await world.events_after(before)]
    assert sorted(told) == sorted(f"name {place}" for place in range(30))
    assert (await world.call("GET", "/api/articles/1")).body["name"] == told[-1]


async def test_clients_that_go_away_leave_whole_records(world: World) -> None:
    async def impatient(place: int) -> None:
        try:
            async with asyncio.timeout(0.001 * (place % 5)):
                await world.send("POST", "/api/articles", {"code": f"C{place}", "name": "x"})
        except (TimeoutError, aiohttp.ClientError):
            pass

    await asyncio.gather(*(impatient(place) for place in range(60)))
    assert (await world.send("POST", "/api/articles", {"code": "after", "name": "x"})).status == 201
    (whole,) = await world.rows("""
        SELECT
            (SELECT count(*) FROM articles),
            (SELECT count(*) FROM events WHERE event = 'article.created'),
            (SELECT rows FROM row_counts WHERE name = 'articles'),
            (SELECT count(*) FROM article_search WHERE article_search MATCH 'x')
    """)
    assert len(set(whole)) == 1
