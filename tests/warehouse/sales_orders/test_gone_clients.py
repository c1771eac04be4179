"""A client that disconnects during a request leaves the whole order or nothing, and the next client is served.

`scripts/soak` does the same to a separate process, many more times.
"""

import asyncio
import logging
from random import Random

import pytest

from tests.support.gone_clients import FORMS, Visit, Visitors, broken
from tests.support.shop import Shop
from tests.support.wholeness import NOT_TOLD_ONCE, STORED
from tests.support.world import World
from wmsd.maintenance.file_checks.company_checks import examine

AT_ONCE = 8
ROUNDS = 4


@pytest.fixture(params=FORMS)
async def visitors(shop: Shop, request: pytest.FixtureRequest) -> Visitors:
    await shop.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,90000\nB,MAIN,90000\n")
    return Visitors(shop.world.caller, request.param, Random(20261120))


async def assert_whole(world: World, visits: list[Visit]) -> None:
    assert list(broken(visits, await world.rows(STORED))) == []
    assert await world.rows(NOT_TOLD_ONCE) == []
    assert (await (await world.database()).read_long(examine)).differences == []


async def test_it_leaves_the_whole_order_or_nothing(
    world: World, visitors: Visitors, caplog: pytest.LogCaptureFixture
) -> None:
    visits: list[Visit] = []
    for _ in range(ROUNDS):
        for found in await asyncio.gather(*(visitors.cut_and_go_on() for _ in range(AT_ONCE))):
            visits += found
    await assert_whole(world, visits)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_repeated_with_its_key_the_order_is_there_once(world: World, visitors: Visitors) -> None:
    visits: list[Visit] = []
    for _ in range(ROUNDS):
        for found in await asyncio.gather(*(visitors.cut_and_repeat() for _ in range(AT_ONCE))):
            visits += found
    await assert_whole(world, visits)
