"""Many orders that compete for the last units of an article."""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

from soak_runs.shop import Shop, open_shop
from soak_runs.verdict import Verdict, telling
from tests.support.contention import Tally, contend
from tests.support.raw_http import Caller
from tests.support.wholeness import AVAILABLE_AS_TOLD

ATTEMPTS: Final = 10_000
UNITS: Final = 1_000
CONNECTIONS: Final = 256
STOCK: Final = """
    SELECT articles.code, stock.quantity, stock.reserved FROM stock JOIN articles ON articles.id = stock.article_id
"""


def run(divisor: int) -> Verdict:
    attempts, units, connections = ATTEMPTS // divisor, UNITS // divisor, CONNECTIONS // divisor
    tally = Tally()
    with open_shop(of_a=units, of_b=5 * attempts) as shop:
        with shop.serving() as (_, caller):
            started = time.perf_counter()
            asyncio.run(_contend(caller, attempts, connections, tally))
            seconds = time.perf_counter() - started
        broken = [*_broken(shop, tally, attempts, units), *shop.flaws()]
    figures = {
        "connections": connections,
        "attempts": tally.attempts,
        "accepted": tally.accepted,
        "units": tally.taken["A"] / 1_000_000,
        "refused": tally.refused,
        "batches accepted in part": tally.batches_in_part,
        "seconds": seconds,
    }
    return Verdict(figures, broken)


async def _contend(caller: Caller, attempts: int, connections: int, tally: Tally) -> None:
    async with telling(lambda: f"{tally.attempts} of {attempts} orders were answered"):
        await contend(caller, attempts, connections, tally)


def _broken(shop: Shop, tally: Tally, attempts: int, units: int) -> Iterator[str]:
    for answer in tally.wrong:
        yield f"Neither created nor refused for lack of stock: {answer}"
    if tally.attempts != attempts:
        yield f"{tally.attempts} of {attempts} orders were answered."
    if tally.taken["A"] != units * 1_000_000:
        yield f"Orders for {tally.taken['A'] / 1_000_000} units were accepted, not for {units}."
    if not tally.batches_in_part:
        yield "No batch was accepted in part."
    for code, quantity, reserved in shop.rows(STOCK):
        if reserved != tally.taken[code]:
            yield f"{reserved / 1000000} {code} are reserved, but {tally.taken[code] / 1000000} were accepted."
        if quantity < reserved:
            yield f"There are {quantity / 1_000_000} {code}, and {reserved / 1_000_000} are reserved."
    ((orders,),) = shop.rows("SELECT count(*) FROM sales_orders")
    if orders != tally.accepted:
        yield f"There are {orders} orders, but {tally.accepted} were accepted."
    yield from _falling([left for (left,) in shop.rows(AVAILABLE_AS_TOLD)], tally)


def _falling(left: list[float], tally: Tally) -> Iterator[str]:
    """Yield the violations if the available stock in the events does not fall with every order.

    `left` has the available quantity in each event, in order. The first event is that of the stock count.
    """
    if len(left) != tally.accepted + 1:
        yield f"{len(left) - 1} orders reported the remaining stock, but {tally.accepted} were accepted."
    if left != sorted(set(left), reverse=True):
        yield "The available stock in the events does not decrease with every order."
    if min(left) < 0 or left[-1] > 0:
        yield f"The available stock ends at {left[-1]}, and its lowest value is {min(left)}."
