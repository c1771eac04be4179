"""Concurrent calls: each order and each pallet moves once."""

import asyncio
from collections import Counter

from tests.support.planner import EUR_4, MOVED, PACKED, STOCK, Planner
from tests.support.world import ETSM


async def test_a_status_call_that_comes_many_times_at_once_moves_once(planner: Planner) -> None:
    for _ in range(3):
        await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", "SO-000002", "SO-000003", packaging=[EUR_4])
    before = await planner.world.last_event()
    calls = [planner.send(status) for status in ("INCARCAT", "LIVRAT") * 10]
    answers = await asyncio.gather(*calls)
    assert {answer.status for answer in answers} == {200}
    names = Counter(name for name, _ in await planner.world.events_after(before))
    assert names == {MOVED: 6, PACKED: 1, STOCK: 1}
    assert await planner.packaging() == {("EUR", 1): 4}
    assert await planner.shop.ledger() == [("loading", -3)] * 3
    await planner.is_right()


async def test_a_status_call_against_moves_by_hand(planner: Planner) -> None:
    """Of a status call and a manual cancellation, the first one wins: everything is loaded, or nothing is loaded
    and the order is cancelled.
    """
    seen = set()
    for number in range(6):
        first, second = 2 * number + 1, 2 * number + 2
        for _ in range(2):
            await planner.shop.order({"article_id": 1, "quantity": 1}, status="IN_LUCRU")
        ecc = f"T{number}"
        await planner.plan(f"SO-{first:06d}", f"SO-{second:06d}", ecc=ecc, packaging=[EUR_4])
        cancel = planner.world.send("PATCH", f"/api/v2/sales-orders/{second}/status", {"status": "ANULAT"})
        pair = [planner.send("INCARCAT", ecc=ecc), cancel]
        answers = await asyncio.gather(*(pair if number % 2 else reversed(pair)))
        statuses = tuple(answer.status for answer in (answers if number % 2 else reversed(answers)))
        assert statuses in ((200, 409), (409, 200))
        loaded = statuses[0] == 200
        assert await planner.orders(ecc) == (["INCARCAT"] * 2 if loaded else ["IN_LUCRU", "ANULAT"])
        seen.add(loaded)
    transports = await planner.world.rows("SELECT count(*) FROM transports WHERE status = 'INCARCAT'")
    assert await planner.packaging() in ({("EUR", 1): 4 * transports[0][0]}, {})
    await planner.is_right()


async def test_of_two_transports_one_gets_an_order(planner: Planner) -> None:
    await planner.shop.order(status="IN_LUCRU")
    bodies = [{"transport_ecc": f"T{number}", "order_codes": ["SO-000001"]} for number in range(10)]
    path = f"{ETSM}/transports"
    answers = await asyncio.gather(
        *(planner.world.send("POST", path, body, token=planner.token, company="") for body in bodies)
    )
    assert Counter(answer.status for answer in answers) == {201: 1, 422: 9}
    await planner.is_right()
