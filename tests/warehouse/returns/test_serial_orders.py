"""Random concurrent requests for returns, receptions and unloads of the same goods: some serial order explains the
outcome, and each serial is in stock once.
"""

from collections.abc import Iterator
from random import Random

import pytest

from tests.support.world import World
from tests.warehouse.documents.answers import Request
from tests.warehouse.documents.machine import SEEDS
from tests.warehouse.documents.scene import Scene, open_scene
from tests.warehouse.stock.goods import LOT, SERIAL
from tests.warehouse.stock.model import Json

ROUNDS = 4
SOLD = 3
"""The number of orders of a round, each with 2 serials and 3 of a lot."""


@pytest.mark.parametrize("seed", SEEDS)
async def test_of_10_to_30_requests_at_once_some_serial_order_explains_the_outcome(
    world: World, seed: int
) -> None:
    random = Random(seed)
    scene = await open_scene(world)
    statuses = set[int]()
    for number in range(ROUNDS):
        await prepare(scene, random, number)
        requests = list(mixed(scene, random, number))
        random.shuffle(requests)
        statuses |= set(await scene.ask_at_once(requests[: random.randint(10, 30)]))
    assert {200, 201} < statuses <= {200, 201, 409, 422}


async def prepare(scene: Scene, random: Random, number: int) -> None:
    """Load orders with serials, and create a return that brings back some of the serials of each order."""
    await scene.ask(Request("POST", "purchase-orders", None, ordered()))
    await scene.ask(Request("POST", "receptions", None, {**arrival(scene, names(number)), "status": "FINALIZAT"}))
    for _ in range(SOLD):
        lines = [{"article_id": SERIAL, "quantity": 2}, {"article_id": LOT, "quantity": 3}]
        await scene.ask(
            Request("POST", "sales-orders", None, {"partner_id": 1, "warehouse_id": 1, "lines": lines})
        )
        for status in ("IN_LUCRU", "INCARCAT"):
            await scene.ask(Request("PATCH", "sales-orders", scene.depot.sales.last_id, {"status": status}))
    first, second, _ = shipped(scene)
    for order_id in (first, first, second, None):
        await scene.ask(Request("POST", "returns", None, coming_back(scene, random, order_id or second, order_id)))
        status = random.choice(["RECEPTIONAT", "RECEPTIONAT", "CREAT"])
        await scene.ask(Request("PATCH", "returns", scene.depot.returns.last_id, {"status": status}))
    await scene.ask(Request("POST", "purchase-orders", None, ordered()))
    await scene.look()


def mixed(scene: Scene, random: Random, number: int) -> Iterator[Request]:
    """Yield requests, more than the test sends: unloads, new, finished and cancelled returns, and receptions of
    the same serials.
    """
    for order_id in shipped(scene):
        for status in ("IN_LUCRU", "IN_LUCRU", "LIVRAT"):
            yield Request("PATCH", "sales-orders", order_id, {"status": status})
        for _ in range(4):
            bound = random.choice([order_id, order_id, None])
            yield Request("POST", "returns", None, coming_back(scene, random, order_id, bound))
    for made in list(scene.depot.returns.by_id)[-4:]:
        for status in ("FINALIZAT", "ANULAT", "RECEPTIONAT"):
            yield Request("PATCH", "returns", made, {"status": status})
    for _ in range(6):
        again = random.sample(names(number), 1)
        yield Request("POST", "receptions", None, {**arrival(scene, again), "status": "FINALIZAT"})


def shipped(scene: Scene) -> list[int]:
    return list(scene.depot.sales.by_id)[-SOLD:]


def names(number: int) -> list[str]:
    """Return the serials of a round."""
    return [f"R{number}-{place}" for place in range(2 * SOLD)]


def ordered() -> Json:
    items = [{"article_id": SERIAL, "quantity": 2 * SOLD}, {"article_id": LOT, "quantity": 3 * SOLD}]
    return {"partner_id": 4, "warehouse_id": 1, "items": items}


def arrival(scene: Scene, serials: list[str]) -> Json:
    """Return a reception of the latest order with these serials and 1.5 times their number of the lot."""
    order = scene.depot.purchases.by_id[scene.depot.purchases.last_id]
    of_serials, of_lot = order.lines
    items = [
        {"po_item_id": of_serials["id"], "quantity_um3pl": len(serials), "serial_data": serials},
        {"po_item_id": of_lot["id"], "quantity_um3pl": len(serials) * 1.5, "lot_number": "L1"},
    ]
    return {"purchase_order_id": order.id, "warehouse_id": 1, "selected_items": items}


def coming_back(scene: Scene, random: Random, order_id: int, bound: int | None) -> Json:
    """Return a body that brings back one of the order's serials and some of its lot; `bound` is its sales order or
    None.
    """
    loaded = [part.serial for _, _, part in scene.depot.stock.sent_out(order_id) if part.serial]
    dispositions = random.choices(["RESTOC", "RESTOC", "CARANTINA", "DISTRUS"], k=2)
    lines = [
        {"article_id": SERIAL, "quantity": 1, "serials": [random.choice(loaded)], "disposition": dispositions[0]},
        {"article_id": LOT, "quantity": random.choice([1, 1.5, 2]), "disposition": dispositions[1]},
    ]
    return {"partner_id": 1, "warehouse_id": 1, "sales_order_id": bound, "lines": lines}
