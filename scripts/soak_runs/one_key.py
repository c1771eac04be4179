"""One order that many clients post at the same time with one Idempotency-Key."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Final

from soak_runs.shop import Shop, open_shop
from soak_runs.verdict import Verdict, progress
from tests.support.contention import V1, V2, order
from tests.support.raw_http import Answer, Caller

CONNECTIONS: Final = 500


def run(divisor: int) -> Verdict:
    connections = CONNECTIONS // divisor
    broken: list[str] = []
    with open_shop() as shop:
        with shop.serving() as (_, caller):
            started = time.perf_counter()
            for path in (V1, V2):
                progress(f"{connections} connections post one order to {path}")
                answers = asyncio.run(_posted(caller, path, connections))
                broken += _broken(shop, path, answers)
            seconds = time.perf_counter() - started
        broken += shop.flaws()
    return Verdict({"connections": connections, "attempts": 2 * connections, "seconds": seconds}, broken)


async def _posted(caller: Caller, path: str, connections: int) -> list[Answer]:
    request = caller.post(path, order(("A", 3), notes=path), "one-key")
    async with caller.connections(connections) as opened:
        return await asyncio.gather(*(connection.ask(request) for connection in opened))


def _broken(shop: Shop, path: str, answers: Sequence[Answer]) -> Iterator[str]:
    different = {(answer.status, answer.raw) for answer in answers}
    if len(different) != 1 or answers[0].status != 201:
        yield f"{path}: {len(answers)} posts had {len(different)} different answers: {sorted(different)[:3]}"
    first = sum(not answer.is_replayed for answer in answers)
    if first != 1:
        yield f"{path}: {first} answers are not replays, instead of one."
    ((orders,),) = shop.rows(f"SELECT count(*) FROM sales_orders WHERE notes = '{path}'")
    if orders != 1:
        yield f"{path}: there are {orders} orders."
