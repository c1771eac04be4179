"""Concurrent returns of the same goods: the goods enter stock once, and never more than were shipped."""

import asyncio
from collections import Counter

import pytest

from tests.support.dock import SERIAL, Dock, arrival
from wmsd.maintenance.file_checks.company_checks import examine

PATH = "/api/returns"
TIMES = 10


async def healthy(dock: Dock) -> bool:
    return (await (await dock.world.database()).read_long(examine)).differences == []


@pytest.mark.parametrize("first", ["receptions", "returns", "unloads"])
async def test_a_serial_that_receptions_returns_and_unloads_bring_at_once_comes_in_once(
    dock: Dock, first: str
) -> None:
    await dock.bring(SERIAL, {"quantity_um3pl": 1, "serial_data": ["ONE"]})
    sold = await dock.order({"article_id": SERIAL, "quantity": 1, "serials": ["ONE"]}, status="INCARCAT")
    again = await dock.purchase((SERIAL, TIMES))
    item = {"po_item_id": again.body["items"][0]["id"], "quantity_um3pl": 1, "serial_data": ["ONE"]}
    line = {"article_id": SERIAL, "quantity": 1, "serials": ["ONE"], "disposition": "RESTOC"}
    free = {"partner_id": 1, "warehouse_id": 1, "lines": [line]}
    drafts = [await dock.world.send("POST", PATH, free) for _ in range(TIMES)]
    for draft in drafts:
        await dock.world.send("PATCH", f"{PATH}/{draft.id}", {"status": "RECEPTIONAT"})
    before = await dock.world.rows("SELECT count(*) FROM stock_movements")

    send = dock.world.send
    ways = {
        "receptions": [send("POST", "/api/receptions", arrival(again, item)) for _ in range(TIMES)],
        "returns": [send("PATCH", f"{PATH}/{draft.id}", {"status": "FINALIZAT"}) for draft in drafts],
        "unloads": [send("PATCH", f"/api/sales-orders/{sold.id}", {"status": "IN_LUCRU"}) for _ in range(TIMES)],
    }
    names = [first, *(name for name in ways if name != first)]
    mixed = [
        (name, request)
        for turn in zip(*(ways[name] for name in names), strict=True)
        for name, request in zip(names, turn, strict=True)
    ]
    answers = await asyncio.gather(*(request for _, request in mixed))
    done = Counter(name for (name, _), answer in zip(mixed, answers, strict=True) if answer.status in (200, 201))

    assert {answer.status for answer in answers} <= {200, 201, 422}
    assert done in ({"receptions": 1}, {"returns": 1}, {"unloads": TIMES}), "an unload may be repeated"
    assert await dock.serials() == ["ONE"]
    ((moved,),) = await dock.world.rows("SELECT count(*) FROM stock_movements")
    assert moved == before[0][0] + 1
    assert await healthy(dock)


async def test_an_order_is_unloaded_or_comes_back_but_not_both(dock: Dock) -> None:
    sold = await dock.order(status="INCARCAT")
    back = {
        "partner_id": 1,
        "warehouse_id": 1,
        "sales_order_id": sold.id,
        "lines": [{"article_id": 1, "quantity": 1}],
    }
    unloads = [
        dock.world.send("PATCH", f"/api/sales-orders/{sold.id}", {"status": "IN_LUCRU"}) for _ in range(TIMES)
    ]
    returns = [dock.world.send("POST", PATH, back) for _ in range(TIMES)]
    answers = await asyncio.gather(*(request for pair in zip(returns, unloads, strict=True) for request in pair))
    told = Counter(answer.status for answer in answers)
    assert told in ({200: TIMES, 422: TIMES}, {201: 3, 422: TIMES - 3, 409: TIMES})
    assert await healthy(dock)


async def test_of_drafts_cancelled_and_finished_at_once_each_goes_one_way(dock: Dock) -> None:
    sold = await dock.order({"article_id": 1, "quantity": TIMES}, status="LIVRAT")
    line = {"article_id": 1, "quantity": 1, "disposition": "RESTOC"}
    body = {"partner_id": 1, "warehouse_id": 1, "sales_order_id": sold.id, "lines": [line]}
    drafts = [await dock.world.send("POST", PATH, body) for _ in range(TIMES)]
    moves = [(draft.id, status) for draft in drafts for status in ("RECEPTIONAT", "ANULAT", "FINALIZAT")]
    moves = [*moves[::2], *moves[1::2]]
    answers = await asyncio.gather(
        *(dock.world.send("PATCH", f"{PATH}/{made}", {"status": status}) for made, status in moves)
    )
    assert {answer.status for answer in answers} == {200, 409}
    listed = (await dock.world.call("GET", f"{PATH}?per_page=200")).body["data"]
    reached = Counter(made["status"] for made in listed)
    assert await dock.stock() == (20 - TIMES + reached["FINALIZAT"], 0, 20 - TIMES + reached["FINALIZAT"])
    more = {**body, "lines": [{"article_id": 1, "quantity": reached["ANULAT"]}]}
    assert (await dock.world.send("POST", PATH, more)).status == (201 if reached["ANULAT"] else 422)
    assert await healthy(dock)
