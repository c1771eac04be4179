"""Clients that disconnect, many times at each point of a request and by each interface."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from soak_runs.shop import open_shop
from soak_runs.verdict import Verdict, progress
from tests.support.gone_clients import FORMS, Place, Visit, Visitors, broken
from tests.support.wholeness import STORED

ROUNDS: Final = 10
AT_ONCE: Final = 32


def run(divisor: int) -> Verdict:
    chance = Random(20261120)
    visits: list[Visit] = []
    with open_shop() as shop:
        with shop.serving() as (server, caller):
            started = time.perf_counter()
            visitors = [Visitors(caller, path, chance) for path in FORMS]
            for each in visitors:
                visits += asyncio.run(_visits(each, max(1, ROUNDS // divisor)))
            seconds = time.perf_counter() - started
            server.get("/api/health")
        stored = shop.rows(STORED)
        flaws = [*broken(visits, stored), *shop.flaws()]
    figures = {
        "requests cut": sum(each.cuts for each in visitors),
        "answered afterwards": sum(visit.place is None for visit in visits),
        "orders": len(stored),
        "seconds": seconds,
    }
    return Verdict(figures, flaws)


async def _visits(visitors: Visitors, rounds: int) -> list[Visit]:
    """Run two kinds of clients at the same time, so that connections are cut while others work. Return the visits
    (requests) of all clients.

    Clients of one kind cut a request, and another client then sends a new one (`cut_and_go_on`). Clients of the
    other kind cut a request, and then repeat the request with its key (`cut_and_repeat`).
    """
    visits: list[Visit] = []
    kinds: tuple[Callable[[], Awaitable[list[Visit]]], ...] = (visitors.cut_and_go_on, visitors.cut_and_repeat)
    for number in range(rounds):
        progress(f"{AT_ONCE * len(Place)} clients of {visitors.path} go away, {number + 1} of {rounds}")
        for found in await asyncio.gather(*(kinds[place % 2]() for place in range(AT_ONCE))):
            visits += found
    return visits
