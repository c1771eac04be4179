"""Random concurrent requests for purchase orders, receptions and sales: some serial order explains the outcome."""

from collections.abc import Iterator
from random import Random

import pytest

from tests.support.world import World
from tests.warehouse.documents.answers import Request
from tests.warehouse.documents.machine import SEEDS
from tests.warehouse.documents.scene import Scene, open_scene
from tests.warehouse.receptions.strategies import SERIALS
from tests.warehouse.stock.goods import GOODS, LOT, PAIR, SERIAL, A, B
from tests.warehouse.stock.model import Json

ROUNDS = 4
ORDERED = [(A, 12), (LOT, 9), (SERIAL, 4), (PAIR, 6)]
NAMES = SERIALS[:8]
"""A small set of serials, so that many receptions bring the same serial."""


@pytest.mark.parametrize("seed", SEEDS)
async def test_of_10_to_30_requests_at_once_some_serial_order_explains_the_outcome(
    world: World, seed: int
) -> None:
    random = Random(seed)
    scene = await open_scene(world)
    statuses = set[int]()
    for _ in range(ROUNDS):
        await prepare(scene, random)
        requests = list(mixed(scene, random))
        random.shuffle(requests)
        statuses |= set(await scene.ask_at_once(requests[: random.randint(10, 30)]))
    assert {200, 201} < statuses <= {200, 201, 409, 422}


async def prepare(scene: Scene, random: Random) -> None:
    """Create a purchase order, drafts that together exceed the order, and open sales orders."""
    items = [{"article_id": article, "quantity": quantity} for article, quantity in ORDERED]
    order: Json = {"partner_id": 4, "warehouse_id": 1, "items": items}
    await scene.ask(Request("POST", "purchase-orders", None, order))
    for _ in range(8):
        await scene.ask(Request("POST", "receptions", None, arrival(scene, random)))
    for _ in range(3):
        await scene.ask(Request("POST", "sales-orders", None, sale(scene, random)))
    for order_id in list(scene.depot.sales.by_id)[-3:]:
        await scene.ask(Request("PATCH", "sales-orders", order_id, {"status": "IN_LUCRU"}))
    await scene.look()


def mixed(scene: Scene, random: Random) -> Iterator[Request]:
    """Yield requests, more than the test sends: drafts are posted and cancelled, the order is closed, sales are
    loaded and unloaded.
    """
    order_id = scene.depot.purchases.last_id
    drafts = [each.id for each in scene.depot.receptions.by_id.values() if each.status in ("CREAT", "IN_LUCRU")]
    sales = list(scene.depot.sales.by_id)[-6:]
    for draft in drafts[-8:]:
        for status in random.choices(["FINALIZAT", "FINALIZAT", "ANULAT", "IN_LUCRU"], k=2):
            yield Request("PATCH", "receptions", draft, {"status": status})
    for _ in range(8):
        status = random.choice(["FINALIZAT", "CREAT"])
        yield Request("POST", "receptions", None, {**arrival(scene, random), "status": status})
    for status in ("RECEPTIONAT", "ANULAT"):
        yield Request("PATCH", "purchase-orders", order_id, {"status": status})
    for sale_id in sales:
        for status in random.choices(["INCARCAT", "INCARCAT", "IN_LUCRU", "ANULAT"], k=3):
            yield Request("PATCH", "sales-orders", sale_id, {"status": status})
    for _ in range(6):
        yield Request("POST", "sales-orders", None, sale(scene, random))


def arrival(scene: Scene, random: Random) -> Json:
    """Return a reception of one or two items of the latest order."""
    order = scene.depot.purchases.by_id[scene.depot.purchases.last_id]
    lines = random.sample(order.lines, random.randint(1, 2))
    return {
        "purchase_order_id": order.id,
        "warehouse_id": random.choice([1, 2]),
        "selected_items": [item(line, random) for line in lines],
    }


def item(line: Json, random: Random) -> Json:
    article, count = GOODS[line["article_id"]], random.randint(1, 4)
    units = count * article.factor // 1_000_000
    sent: Json = {"po_item_id": line["id"], "quantity_um3pl": count}
    if article.tracks_serials:
        sent |= {"quantity_um3pl": 1, "serial_data": random.sample(NAMES, units // count)}
    if article.tracks_lots:
        sent["lot_number"] = random.choice(["L1", "L2"])
    return sent


def sale(scene: Scene, random: Random) -> Json:
    """Return a sales order of random goods in stock, sometimes by lot or serial."""
    stock = scene.depot.stock
    article, warehouse = random.choice([place for place, shelf in stock.shelves.items() if shelf.quantity])
    line: Json = {"article_id": article, "warehouse_id": warehouse, "quantity": 1}
    there = [
        name for (of, name), each in stock.serials.items() if each.place == (article, warehouse) and of == article
    ]
    lots = [name for name, lot in stock.shelves[article, warehouse].lots.items() if lot.quantity]
    if there and random.random() < 0.5:
        line["serials"] = [random.choice(there)]
    elif lots and random.random() < 0.5:
        line["lot_number"] = random.choice(lots)
    if article == B:
        line["quantity"] = 0.5
    return {"partner_id": 1, "warehouse_id": 1, "lines": [line]}
