"""Concurrent receptions of one order never receive more than ordered, and receive each serial only once."""

import asyncio
from collections import Counter

from tests.support.dock import SERIAL, Dock, arrival
from tests.support.world import Answer
from wmsd.maintenance.file_checks.company_checks import examine

PATH = "/api/receptions"
CONNECTIONS = 20


async def finalise(dock: Dock, drafts: list[Answer]) -> Counter[int]:
    sent = (dock.world.send("PATCH", f"{PATH}/{draft.id}", {"status": "FINALIZAT"}) for draft in drafts)
    return Counter(answer.status for answer in await asyncio.gather(*sent))


async def healthy(dock: Dock) -> bool:
    return (await (await dock.world.database()).read_long(examine)).differences == []


async def test_20_connections_receive_an_order_of_100_in_sevens_and_14_of_them_fit(dock: Dock) -> None:
    order = await dock.purchase((1, 100))
    item = {"po_item_id": 1, "quantity_um3pl": 7}
    answers = await asyncio.gather(
        *(dock.world.send("POST", PATH, arrival(order, item)) for _ in range(CONNECTIONS))
    )
    assert Counter(answer.status for answer in answers) == {201: 14, 422: 6}
    assert await dock.purchase_order(order) == ("PARTIAL", [98])
    assert await dock.stock() == (118, 0, 118)
    assert await healthy(dock)


async def test_of_20_drafts_that_together_over_receive_only_what_fits_is_posted(dock: Dock) -> None:
    order = await dock.purchase((1, 30))
    item = {"po_item_id": 1, "quantity_um3pl": 8}
    drafts = [await dock.receive(order, item, status="CREAT") for _ in range(CONNECTIONS)]
    assert await finalise(dock, drafts) == {200: 3, 422: 17}
    assert await dock.purchase_order(order) == ("PARTIAL", [24])
    listed = await dock.world.call("GET", f"{PATH}?status=FINALIZAT")
    assert listed.body["meta"]["total"] == 3
    assert await healthy(dock)


async def test_one_draft_that_is_posted_from_20_connections_is_posted_once(dock: Dock) -> None:
    draft = await dock.receive(await dock.purchase((1, 30)), status="CREAT")
    assert await finalise(dock, [draft] * CONNECTIONS) == {200: CONNECTIONS}
    assert await dock.ledger() == [("receipt", 30)]


async def test_a_serial_that_20_receptions_bring_comes_in_once(dock: Dock) -> None:
    orders = [await dock.purchase((SERIAL, 1)) for _ in range(CONNECTIONS)]
    serial = {"quantity_um3pl": 1, "serial_data": ["ONE"]}
    answers = await asyncio.gather(
        *(
            dock.world.send(
                "POST",
                PATH,
                arrival(
                    order, {"po_item_id": order.body["items"][0]["id"], **serial}, warehouse_id=1 + number % 2
                ),
            )
            for number, order in enumerate(orders)
        )
    )
    assert Counter(answer.status for answer in answers) == {201: 1, 422: CONNECTIONS - 1}
    assert await dock.moved("receipt") == [(1, None, "ONE")]
    assert await healthy(dock)


async def test_closing_short_while_the_rest_arrives_leaves_one_of_both(dock: Dock) -> None:
    order = await dock.purchase((1, 10))
    await dock.receive(order, {"po_item_id": 1, "quantity_um3pl": 4})
    rest = arrival(order, {"po_item_id": 1, "quantity_um3pl": 6})
    closed, received = await asyncio.gather(
        dock.world.send("PATCH", f"/api/purchase-orders/{order.id}", {"status": "RECEPTIONAT"}),
        dock.world.send("POST", PATH, rest),
    )
    assert closed.status == 200, "the status that it has already is fine too"
    assert received.status in (201, 409)
    assert await dock.purchase_order(order) == ("RECEPTIONAT", [10 if received.status == 201 else 4])
