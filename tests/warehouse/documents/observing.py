"""The visible state of a company's documents and stock, and the state that the model expects."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.world import World
from tests.warehouse.documents.answers import Depot
from tests.warehouse.sales_orders.observing import get, in_order
from tests.warehouse.stock.goods import GOODS, Goods
from tests.warehouse.stock.model import Event, Json, Place, shown

LEDGER = """
    SELECT stock_movements.kind, stock.article_id, stock.warehouse_id, stock_movements.quantity,
        stock_movements.quarantined, destroyed, lot_number, serial, document_id, document_line_id, reason
    FROM stock_movements JOIN stock ON stock.id = stock_id
    WHERE stock_movements.kind <> 'count' ORDER BY stock_movements.id
"""

Seen = dict[str, list[Any]]
"""The events since the previous check, the records of each kind, stock with lots and serials, and the ledger."""


async def observe(world: World, last_event: int) -> Seen:
    seen: Seen = {"events": in_order(await world.events_after(last_event))}
    for kind in ("purchase-orders", "receptions", "sales-orders", "returns"):
        seen[kind] = (await get(world, f"/api/{kind}?per_page=200"))["data"]
    stock = (await get(world, "/api/v2/stock?detail=lots&per_page=500"))["data"]
    seen["stock"] = sorted((_figures(record) for record in stock), key=lambda each: each["place"])
    seen["ledger"] = await world.rows(LEDGER)
    return seen


def _figures(record: Json) -> Json:
    names = ("quantity", "reserved", "quarantined", "available", "serials")
    lots = [(lot["lot_number"], lot["quantity"], lot["available"]) for lot in record["lots"]]
    place = (record["article_id"], record["warehouse_id"])
    return {"place": place, **{name: record[name] for name in names}, "lots": lots}


def foreseen(depot: Depot, caused: list[Event]) -> Seen:
    return {
        "events": caused,
        **{
            kind: [book.record(document) for document in book.by_id.values()] for kind, book in depot.books.items()
        },
        "stock": list(_stock(depot.stock)),
        "ledger": [tuple(moved) for moved in depot.stock.moved if moved.kind != "count"],
    }


def _stock(stock: Goods) -> Iterator[Json]:
    for place, balance in sorted(stock.balances().items()):
        tracks_serials = GOODS[place[0]].tracks_serials
        yield {
            "place": place,
            "quantity": shown(balance.quantity),
            "reserved": shown(balance.reserved),
            "quarantined": shown(balance.quarantined),
            "available": shown(balance.available),
            "serials": _serials(stock, place) if tracks_serials else None,
            "lots": [
                (name, shown(lot.quantity), shown(stock.free_of_lot(place, name)))
                for name, lot in stock.shelves[place].lots.items()
                if lot.quantity
            ],
        }


def _serials(stock: Goods, place: Place) -> list[str]:
    return [
        name for (article, name), serial in stock.serials.items() if (article, serial.place) == (place[0], place)
    ]


def differences(seen: Mapping[str, list[Any]], expected: Mapping[str, list[Any]]) -> Iterator[str]:
    """Yield a line for each member that is present but not expected, or expected but missing."""
    for name in expected:
        here, there = seen[name], expected[name]
        yield from (f"{name}, seen: {member}" for member in here if member not in there)
        yield from (f"{name}, not seen: {member}" for member in there if member not in here)
        if here != there:
            yield f"{name}: not so, or not in this order"
