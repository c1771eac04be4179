"""Many concurrent orders for few goods: all goods are sold, nothing twice. `scripts/soak` runs ten times as
many.
"""

import asyncio
from collections import Counter

from tests.support.contention import Tally, contend
from tests.support.shop import Shop
from tests.support.wholeness import NOT_TOLD_ONCE
from wmsd.maintenance.file_checks.company_checks import examine

ATTEMPTS, CONNECTIONS, UNITS = 1_000, 26, 100


async def test_what_is_there_is_sold_to_the_last_tenth_and_no_further(shop: Shop) -> None:
    world = shop.world
    await world.import_csv(
        "stock", f"article_code,warehouse_code,quantity\nA,MAIN,{UNITS}\nB,MAIN,{5 * ATTEMPTS}\n"
    )
    before = await world.last_event()
    tally = Tally()
    await contend(world.caller, ATTEMPTS, CONNECTIONS, tally)

    assert tally.wrong == []
    assert tally.accepted + tally.refused == ATTEMPTS
    assert tally.taken["A"] == UNITS * 1_000_000
    assert tally.batches_in_part > 0

    assert await shop.stock(1) == (UNITS, UNITS, 0)
    _, reserved, _ = await shop.stock(2)
    assert reserved == tally.taken["B"] / 1_000_000, "an order that was refused holds nothing of what there is"
    assert await world.rows("SELECT count(*) FROM sales_orders") == [(tally.accepted,)]
    assert await shop.ledger() == [], "reserving moves nothing"

    assert await world.rows(NOT_TOLD_ONCE) == []
    told = await world.events_after(before)
    left = [data["available"] for name, data in told if name == "stock.updated" and data["article_code"] == "A"]
    assert len(left) == tally.accepted
    assert left == sorted(set(left), reverse=True), "it falls with every order"
    assert left[-1] == 0
    assert (await (await world.database()).read_long(examine)).differences == []


async def test_of_two_ways_that_an_order_can_go_it_goes_one_once(shop: Shop) -> None:
    await shop.order(status="IN_LUCRU")
    before = await shop.world.last_event()
    ways = ["ANULAT", "INCARCAT"] * 10
    path = "/api/v2/sales-orders/1/status"
    answers = await asyncio.gather(*(shop.world.send("PATCH", path, {"status": way}) for way in ways))
    told = Counter((way, answer.status) for way, answer in zip(ways, answers, strict=True))
    loaded = {("INCARCAT", 200): 10, ("ANULAT", 409): 10}
    released = {("ANULAT", 200): 10, ("INCARCAT", 409): 10}
    assert told in (loaded, released)
    assert await shop.stock() == ((17, 0, 17) if told == loaded else (20, 0, 20))
    assert await shop.ledger() == ([("loading", -3)] if told == loaded else [])
    names = sorted(name for name, _ in await shop.world.events_after(before))
    assert names == ["sales_order.status_changed", "stock.updated"]


async def test_what_is_released_is_sold_again_but_once(shop: Shop) -> None:
    world = shop.world
    for _ in range(20):
        await shop.order({"article_id": 1, "quantity": 1})
    order = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1}]}
    releases = [
        world.send("PATCH", f"/api/v2/sales-orders/{id}/status", {"status": "ANULAT"}) for id in range(1, 11)
    ]
    orders = [world.send("POST", "/api/sales-orders", order) for _ in range(60)]
    mixed = [request for place in range(10) for request in (*orders[place::10], releases[place])]
    told = Counter(answer.status for answer in await asyncio.gather(*mixed))
    assert told[200] == 10
    assert told[201] + told[422] == 60
    assert told[201] <= 10
    assert await shop.stock() == (20, 10 + told[201], 10 - told[201])
    assert (await (await world.database()).read_long(examine)).differences == []
