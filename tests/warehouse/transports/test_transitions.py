"""Every call in every status of a transport and of its orders: the moves, the postings, and the events."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.planner import EUR_3, EUR_4, MOVED, PACKED, STOCK, Planner
from wmsd import docs
from wmsd.base.problems import Problem
from wmsd.warehouse.sales_orders.effects import EFFECTS
from wmsd.warehouse.sales_orders.rules import STATUSES
from wmsd.warehouse.sales_orders.rules import Effect as OrderEffect
from wmsd.warehouse.transports.rules import ORDER_MOVES, TRANSITIONS, Effect

TRANSPORTS = ("CREAT", "INCARCAT", "LIVRAT")
CALLS = ("INCARCAT", "LIVRAT")
OUT, IN = ("OUT", 4, "transport", 1), ("IN", 3, "transport", 1)
LOADED, DELIVERED = [MOVED, MOVED, PACKED, STOCK], [MOVED, MOVED, PACKED]
BOTH = [*[MOVED] * 4, PACKED, PACKED, STOCK]
OUTCOMES: Mapping[tuple[str, str], tuple[list[str], str, list[tuple[str, float, str, int]]]] = {
    ("CREAT", "INCARCAT"): (LOADED, "INCARCAT", [OUT]),
    ("CREAT", "LIVRAT"): (BOTH, "LIVRAT", [OUT, IN]),
    ("INCARCAT", "INCARCAT"): ([], "INCARCAT", [OUT]),
    ("INCARCAT", "LIVRAT"): (DELIVERED, "LIVRAT", [OUT, IN]),
    ("LIVRAT", "INCARCAT"): ([], "LIVRAT", [OUT, IN]),
    ("LIVRAT", "LIVRAT"): ([], "LIVRAT", [OUT, IN]),
}
"""The events of a call, the status after the call, and the packaging ledger."""


def with_returns(call: str) -> dict[str, Any]:
    return {"packaging_returned": [EUR_3]} if call == "LIVRAT" else {}


async def two_orders(planner: Planner, transport: str = "CREAT") -> None:
    """Create a transport of two orders of 3 A each, and move it to the status `transport`."""
    for _ in range(2):
        await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", "SO-000002", packaging=[EUR_4])
    for call in CALLS[: TRANSPORTS.index(transport)]:
        assert (await planner.send(call, **with_returns(call))).status == 200


async def movements(planner: Planner) -> list[Any]:
    columns = "direction, quantity / 1000000, document_type, document_id"
    return await planner.world.rows(f"SELECT {columns} FROM packaging_movements ORDER BY id")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("before", TRANSPORTS)
async def test_each_of_the_calls(planner: Planner, before: str, call: str) -> None:
    await two_orders(planner, before)
    events, after, packaging = OUTCOMES[(before, call)]
    moved = await planner.move(call, *events, **with_returns(call))
    assert moved.body["status"] == after
    assert [order["status"] for order in moved.body["orders"]] == [after, after]
    assert moved.raw == (await planner.call("GET", "/transports/T1")).raw
    assert await movements(planner) == packaging
    assert await planner.shop.ledger() == [("loading", -3), ("loading", -3)]
    assert await planner.shop.stock() == (14, 0, 14)
    assert await planner.packaging() == {("EUR", 1): 4 - 3 * (after == "LIVRAT")}
    everything = await planner.everything()
    again = await planner.move(call, **with_returns(call))
    assert again.raw == moved.raw
    assert await planner.everything() == everything
    await planner.is_right()


def test_the_table_is_that_of_the_code() -> None:
    assert set(TRANSITIONS) == set(OUTCOMES)
    nothing = {move for move, effect in TRANSITIONS.items() if effect is Effect.NONE}
    assert nothing == {move for move, (events, _, _) in OUTCOMES.items() if not events}


def table(head: str) -> list[list[str]]:
    guide = (Path(docs.__file__).parent / "transports.md").read_text(encoding="utf-8")
    rows = guide.split(f"| {head} |\n", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows]


def test_the_guide_has_the_same_tables() -> None:
    rows = table("the transport is | the call says | what happens")
    assert {(before, call): what == "nothing" for before, call, what in rows} == {
        move: effect is Effect.NONE for move, effect in TRANSITIONS.items()
    }
    effects = {"loading": Effect.LOAD, "delivering": Effect.DELIVER, "both at once": Effect.LOAD_AND_DELIVER}
    orders = table("an order is | loading | delivering | both at once")
    assert [row[0] for row in orders] == list(STATUSES)
    for status, *cells in orders:
        for effect, cell in zip(effects.values(), cells, strict=True):
            told = None if cell == "forbids it" else tuple(re.findall("[A-Z]+", cell))
            assert told == ORDER_MOVES[effect].get(status), (status, effect)  # type: ignore[call-overload]  # the key is a text of the table


WAYS = {
    "CREAT": ("CREAT",),
    "IN_LUCRU": (),
    "INCARCAT": ("INCARCAT",),
    "LIVRAT": ("INCARCAT", "LIVRAT"),
    "ANULAT": ("ANULAT",),
}
"""The manual moves from IN_LUCRU to each status."""
BACK = {
    "CREAT": ("IN_LUCRU", "CREAT"),
    "IN_LUCRU": ("IN_LUCRU",),
    "INCARCAT": (),
    "LIVRAT": ("LIVRAT",),
    "ANULAT": ("IN_LUCRU", "ANULAT"),
}
"""The manual moves from INCARCAT to each status."""


@pytest.mark.parametrize("order", STATUSES)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("before", ["CREAT", "INCARCAT"])
async def test_an_order_that_was_moved_by_hand(planner: Planner, before: str, call: str, order: str) -> None:
    await two_orders(planner, before)
    await planner.by_hand(2, *(WAYS if before == "CREAT" else BACK)[order])
    effect = TRANSITIONS[(before, call)]  # type: ignore[index]  # parameters are plain texts
    everything = await planner.everything()
    assert await planner.orders() == ["IN_LUCRU" if before == "CREAT" else "INCARCAT", order]
    if effect is Effect.NONE:
        await planner.move(call)
        assert await planner.everything() == everything
    elif order in ORDER_MOVES[effect]:
        assert (await planner.send(call, **with_returns(call))).status == 200
        assert await planner.orders() == [call, "LIVRAT" if order == "LIVRAT" else call]
        assert await movements(planner) == OUTCOMES[(before, call)][2], "nothing is posted twice"
        assert await planner.shop.ledger() == [("loading", -3), ("loading", -3)]
    else:
        refused = await planner.move(call, status=409, **with_returns(call))
        assert refused.body["code"] == "INVALID_STATUS"
        assert refused.body["message"] == "One order prevents this change of status. Nothing was changed."
        assert list(refused.errors) == ["orders.1"]
        assert refused.errors["orders.1"][0].startswith(f"SO-000002 is {order}")
        assert refused.body["details"]["current"] == before
        possible = ["INCARCAT", "LIVRAT"] if before == "CREAT" else ["LIVRAT"]
        assert refused.body["details"]["allowed"] == [status for status in possible if status != call]
        assert refused.body["details"]["orders"][1] == {"code": "SO-000002", "status": order}
        assert await planner.everything() == everything
    await planner.is_right()


async def test_one_that_is_short_keeps_all_where_they_are(
    planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    await two_orders(planner)
    await planner.shop.order(status="IN_LUCRU")
    await planner.plan("SO-000001", "SO-000002", "SO-000003", packaging=[EUR_4], status=200)
    load = EFFECTS[OrderEffect.LOAD]

    def short_of_the_second(tx: Any, order_ids: list[int]) -> None:
        load(tx, order_ids)
        if order_ids == [2]:
            raise Problem("INSUFFICIENT_STOCK", "There is not enough.", errors={"lines.0.quantity": ["is short"]})

    monkeypatch.setitem(EFFECTS, OrderEffect.LOAD, short_of_the_second)
    everything = await planner.everything()
    for call in CALLS:
        refused = await planner.move(call, status=422)
        assert refused.body["code"] == "INSUFFICIENT_STOCK"
        assert refused.errors == {"orders.1": ["SO-000002: There is not enough.", "SO-000002: is short"]}
        assert await planner.everything() == everything
    monkeypatch.undo()
    await planner.move("INCARCAT", *[MOVED] * 3, PACKED, STOCK)
    await planner.is_right()


async def test_who_and_when(planner: Planner) -> None:
    await two_orders(planner)
    await planner.send("INCARCAT", occurred_at="2026-11-20T13:30:00.5+02:00")
    planner.world.clock.advance(3600)
    moved = await planner.send("LIVRAT", occurred_at="2026-11-20T09:00:00-04:00", packaging_returned=[EUR_3])
    assert moved.body["loaded_at"] == "2026-11-20T11:30:00.500Z"
    assert moved.body["delivered_at"] == "2026-11-20T13:00:00.000Z"
    assert moved.body["updated_at"] == "2026-11-20T13:00:00.000Z"
    actor = "site Planner MAIN"
    assert await planner.world.rows("SELECT actor, occurred_at FROM packaging_movements ORDER BY id") == [
        (actor, "2026-11-20T11:30:00.500Z"),
        (actor, "2026-11-20T13:00:00.000Z"),
    ]
    stock = "SELECT actor, occurred_at FROM stock_movements WHERE kind = 'loading'"
    assert await planner.world.rows(stock) == [(actor, "2026-11-20T12:00:00.000Z")] * 2


async def test_a_clock_may_be_a_little_ahead(planner: Planner) -> None:
    await two_orders(planner)
    refused = await planner.move("INCARCAT", status=422, occurred_at="2026-11-20T12:05:00.001Z")
    assert refused.errors == {"occurred_at": ["is in the future"]}
    moved = await planner.send("INCARCAT", occurred_at="2026-11-20T12:05:00Z")
    assert (moved.status, moved.body["loaded_at"]) == (200, "2026-11-20T12:05:00.000Z")


async def test_a_repetition_keeps_the_first_time(planner: Planner) -> None:
    await two_orders(planner)
    first = await planner.send("INCARCAT", occurred_at="2026-11-20T11:00:00Z")
    again = await planner.move("INCARCAT", occurred_at="2026-11-20T11:30:00Z")
    assert again.raw == first.raw


async def test_a_repetition_may_not_say_that_something_else_came_back(planner: Planner) -> None:
    await two_orders(planner, "LIVRAT")
    await planner.move("LIVRAT")
    await planner.move("LIVRAT", packaging_returned=[])
    refused = await planner.move("LIVRAT", status=409, packaging_returned=[EUR_4])
    assert refused.errors == {
        "packaging_returned": ["must be the same as the returned packaging that was recorded at the delivery"]
    }
    assert await planner.packaging() == {("EUR", 1): 1}


async def test_stock_low_is_told_at_the_end(planner: Planner) -> None:
    await planner.shop.order({"article_id": 1, "quantity": 8}, status="IN_LUCRU")
    await planner.shop.order({"article_id": 2, "quantity": 1.5}, status="IN_LUCRU")
    await planner.plan("SO-000001", "SO-000002")
    await planner.move("INCARCAT", MOVED, MOVED, STOCK, STOCK)


async def test_an_empty_transport_does_not_move(planner: Planner) -> None:
    await planner.plan()
    refused = await planner.move("INCARCAT", status=409)
    assert refused.body["message"] == "The transport has no orders. Nothing was changed."


async def test_an_order_that_went_to_another_warehouse(planner: Planner) -> None:
    await two_orders(planner)
    await planner.world.send("PATCH", "/api/sales-orders/2", {"warehouse_id": 2})
    refused = await planner.move("INCARCAT", status=409)
    sentence = "SO-000002 now belongs to another warehouse: leave it out of the transport"
    assert refused.errors == {"orders.1": [sentence]}
    await planner.plan("SO-000001", status=200, packaging=[EUR_4])
    await planner.move("INCARCAT", MOVED, PACKED, STOCK)


async def test_a_return_of_goods_keeps_a_transport_as_it_is(planner: Planner) -> None:
    await two_orders(planner, "LIVRAT")
    line = {"article_id": 1, "quantity": 1}
    body = {"partner_id": 1, "warehouse_id": 1, "sales_order_id": 1, "lines": [line]}
    assert (await planner.world.send("POST", "/api/returns", body)).status == 201
    await planner.move("LIVRAT")
    await planner.move("INCARCAT")
