"""The visible state of a company's orders and stock, and the state that the model expects."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import groupby, product
from operator import itemgetter
from typing import Any

from tests.support.dispatching import dispatch
from tests.support.world import World
from tests.warehouse.sales_orders.model import PARTNERS, TRANSITIONS, Orders
from tests.warehouse.stock.model import Event, Json, Place, shown

FILTERS: list[tuple[str, Any]] = [*product(["status"], TRANSITIONS), *product(["partner_id"], PARTNERS)]
LEDGER = """
    SELECT kind, stock.article_id, stock.warehouse_id, stock_movements.quantity, document_id, document_line_id
    FROM stock_movements JOIN stock ON stock.id = stock_id ORDER BY stock_movements.id
"""


@dataclass
class Seen:
    events: list[Event]
    """The events since the previous check."""
    orders: list[Json]
    stock: dict[Place, tuple[float, ...]]
    """Quantity, reserved, quarantined and available, by article and warehouse."""
    totals: dict[tuple[str, Any], int]
    """The number of orders in a list, by the filter of the list."""
    ledger: list[tuple[Any, ...]]


def foreseen(orders: Orders, caused: list[Event]) -> Seen:
    records = [order.record() for order in orders.by_id.values()]
    return Seen(
        caused,
        records,
        {
            place: (shown(balance.quantity), shown(balance.reserved), 0, shown(balance.available))
            for place, balance in orders.stock.balances().items()
        },
        {(name, value): sum(record[name] == value for record in records) for name, value in FILTERS},
        [(kind, *place, *more) for kind, place, *more in orders.stock.ledger],
    )


def differences(seen: Seen, expected: Seen) -> Iterator[str]:
    """Yield a line for each member that is present but not expected, or expected but missing."""
    for each in fields(Seen):
        here, there = (_members(getattr(side, each.name)) for side in (seen, expected))
        yield from (f"{each.name}, seen: {member}" for member in here if member not in there)
        yield from (f"{each.name}, not seen: {member}" for member in there if member not in here)


def _members(thing: Any) -> list[Any]:
    return list(thing.items()) if isinstance(thing, dict) else thing


async def observe(world: World, last_event: int) -> Seen:
    orders = await get(world, "/api/sales-orders?per_page=200")
    stock = await get(world, "/api/stock?per_page=200")
    events = await world.events_after(last_event)
    ledger = await world.rows(LEDGER)
    return Seen(
        in_order(events),
        orders["data"],
        {(record["article_id"], record["warehouse_id"]): _figures(record) for record in stock["data"]},
        {(name, value): await total(world, f"{name}={value}") for name, value in FILTERS},
        ledger,
    )


async def get(world: World, path: str) -> Any:
    answer = await dispatch(world, "GET", path)
    assert answer.status == 200, answer.raw
    return answer.body


async def total(world: World, query: str) -> int:
    found: int = (await get(world, f"/api/sales-orders?{query}&per_page=1"))["meta"]["total"]
    return found


def _figures(record: Json) -> tuple[float, ...]:
    return tuple(record[name] for name in ("quantity", "reserved", "quarantined", "available"))


def in_order(events: list[Event]) -> list[Event]:
    """Sort the stock events of each transaction by article and warehouse, because wmsd promises no order for
    them.
    """
    ordered: list[Event] = []
    for name, group in groupby(events, key=itemgetter(0)):
        told = list(group)
        if name.startswith("stock."):
            told.sort(key=lambda event: (event[1]["article_id"], event[1]["warehouse_id"]))
        ordered += told
    return ordered
