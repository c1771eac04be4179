"""A server that is killed while clients post, and gets every request again after its restart."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from soak_runs.shop import Shop, open_shop
from soak_runs.verdict import Verdict, progress
from tests.support.gone_clients import FORMS, LINES, Visitors, created
from tests.support.raw_http import Answer, Caller, Connection, Request, without_replays
from tests.support.wholeness import STORED

KILLS: Final = 5
CONNECTIONS: Final = 32
SHORTEST: Final = 0.5
LONGEST: Final = 2.5
"""The longest time from the first answer to the kill of a server, in seconds."""


@dataclass(slots=True)
class Asked:
    """A request with a key, the names of its orders, and its first answer, or None if there was none."""

    path: str
    names: tuple[str, ...]
    request: Request
    answer: Answer | None = None


def run(divisor: int) -> Verdict:
    chance = Random(20261120)
    visitors = [Visitors(Caller(0, ""), path, chance) for path in FORMS]
    everything: list[Asked] = []
    broken: list[str] = []
    kills = max(1, KILLS // divisor)
    started = time.perf_counter()
    with open_shop() as shop:
        for number in range(kills):
            asked = _until_killed(shop, visitors, chance.uniform(SHORTEST, LONGEST))
            everything += asked
            acknowledged = sum(each.answer is not None for each in asked)
            progress(f"kill {number + 1}: {len(asked)} requests, {acknowledged} acknowledged")
            broken += [*_lost(shop, everything), *shop.flaws()]
            broken += [*_repeated(shop, asked), *_not_once(shop, everything), *shop.flaws()]
    figures = {
        "kills": kills,
        "requests": len(everything),
        "acknowledged": sum(each.answer is not None for each in everything),
        "orders": sum(len(each.names) for each in everything),
        "seconds": time.perf_counter() - started,
    }
    return Verdict(figures, broken)


def _until_killed(shop: Shop, visitors: Sequence[Visitors], seconds: float) -> list[Asked]:
    with shop.serving() as (server, caller):
        for each in visitors:
            each.caller = caller
        return asyncio.run(_post(visitors, caller, server.pid, seconds))


async def _post(visitors: Sequence[Visitors], caller: Caller, pid: int, seconds: float) -> list[Asked]:
    asked: list[Asked] = []
    kill: asyncio.TimerHandle | None = None

    async def work(connection: Connection, own: Visitors) -> None:
        nonlocal kill
        while True:
            each = Asked(own.path, *own.request(has_key=True))
            asked.append(each)
            try:
                each.answer = await connection.ask(each.request)
            except (OSError, EOFError):
                return
            kill = kill or asyncio.get_running_loop().call_later(seconds, os.kill, pid, signal.SIGKILL)

    async with caller.connections(CONNECTIONS) as opened:
        await asyncio.gather(
            *(work(connection, visitors[place % len(visitors)]) for place, connection in enumerate(opened))
        )
    return asked


def _repeated(shop: Shop, asked: Sequence[Asked]) -> Iterator[str]:
    with shop.serving() as (_, caller):
        answers = asyncio.run(_ask_again(caller, asked))
    for each, again in zip(asked, answers, strict=True):
        if not created(again, each.path):
            yield f"Repeated after a kill, {each.names[0]} was answered {again.status} {again.raw.decode()}."
        elif each.answer is not None and without_replays(again.raw) != each.answer.raw:
            yield f"{each.names[0]} was answered {each.answer.raw.decode()}, and again {again.raw.decode()}."


async def _ask_again(caller: Caller, asked: Sequence[Asked]) -> list[Answer]:
    """Repeat all requests over as many connections as before, and return the answers in the order of the
    requests.
    """

    async def work(connection: Connection, first: int) -> list[Answer]:
        return [await connection.ask(each.request) for each in asked[first::CONNECTIONS]]

    async with caller.connections(CONNECTIONS) as opened:
        parts = await asyncio.gather(*(work(connection, first) for first, connection in enumerate(opened)))
    return [parts[place % CONNECTIONS][place // CONNECTIONS] for place in range(len(asked))]


def _lost(shop: Shop, asked: Sequence[Asked]) -> Iterator[str]:
    if not any(each.answer for each in asked):
        yield "No write was acknowledged before the kill."
    kept = {name for name, _ in shop.rows(STORED)}
    for each in asked:
        if each.answer is not None and not kept.issuperset(each.names):
            yield (
                f"After a kill, {each.names[0]} is missing, although its request was answered "
                f"{each.answer.status}."
            )


def _not_once(shop: Shop, asked: Sequence[Asked]) -> Iterator[str]:
    stored = shop.rows(STORED)
    counts = Counter(name for name, _ in stored)
    for name, lines in stored:
        if lines != LINES:
            yield f"The order {name} has the lines {lines}."
    for name in (name for each in asked for name in each.names):
        if counts[name] != 1:
            yield f"Repeated after a kill, the order {name} exists {counts[name]} times."
