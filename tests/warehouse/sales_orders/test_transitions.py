"""Every move of a sales order: whether it is allowed, and its effect on stock, ledger and events."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.shop import Shop
from wmsd import docs
from wmsd.warehouse.sales_orders.rules import STATUSES, TRANSITIONS

NOON = "2026-11-20T12:00:00.000Z"
MOVED = ["sales_order.status_changed"]
MOVED_WITH_STOCK = ["sales_order.status_changed", "stock.updated"]


@dataclass(frozen=True)
class Outcome:
    """The state after the move: stock as quantity, reserved and available; the new ledger entries; the events."""

    stock: tuple[float, float, float]
    ledger: tuple[tuple[str, float], ...] = ()
    events: tuple[str, ...] = ("sales_order.status_changed",)


HELD, LEFT, FREE = (20, 3, 17), (17, 0, 17), (20, 0, 20)
WITH_STOCK = ("sales_order.status_changed", "stock.updated")
ALLOWED = {
    ("CREAT", "IN_LUCRU"): Outcome(HELD),
    ("CREAT", "ANULAT"): Outcome(FREE, events=WITH_STOCK),
    ("IN_LUCRU", "CREAT"): Outcome(HELD),
    ("IN_LUCRU", "INCARCAT"): Outcome(LEFT, (("loading", -3),), WITH_STOCK),
    ("IN_LUCRU", "ANULAT"): Outcome(FREE, events=WITH_STOCK),
    ("INCARCAT", "IN_LUCRU"): Outcome(HELD, (("unloading", 3),), WITH_STOCK),
    ("INCARCAT", "LIVRAT"): Outcome(LEFT),
}
STOCK_IN = {"CREAT": HELD, "IN_LUCRU": HELD, "INCARCAT": LEFT, "LIVRAT": LEFT, "ANULAT": FREE}


@pytest.mark.parametrize("after", STATUSES)
@pytest.mark.parametrize("before", STATUSES)
async def test_each_of_the_25_moves(shop: Shop, before: str, after: str) -> None:
    order = await shop.order(status=before)
    ledger = await shop.ledger()
    assert await shop.stock() == STOCK_IN[before]
    path, body = f"/api/v2/sales-orders/{order.id}/status", {"status": after}
    outcome = ALLOWED.get((before, after))
    if before == after:
        answer = await shop.world.call("PATCH", path, body)
        assert answer.raw == order.raw
        outcome = Outcome(STOCK_IN[before])
    elif outcome is None:
        answer = await shop.world.call("PATCH", path, body, status=409)
        assert answer.body["code"] == "INVALID_STATUS"
        assert answer.body["details"] == {
            "current": before,
            "requested": after,
            "allowed": [to for start, to in ALLOWED if start == before],
        }
        outcome = Outcome(STOCK_IN[before])
        assert (await shop.world.call("GET", f"/api/sales-orders/{order.id}")).raw == order.raw
    else:
        answer = await shop.world.call("PATCH", path, body, events=outcome.events)
        assert answer.body["status"] == after
        assert [reached["status"] for reached in answer.body["status_history"]][-2:] == [before, after]
    assert await shop.stock() == outcome.stock
    assert (await shop.ledger())[len(ledger) :] == list(outcome.ledger)


@pytest.mark.parametrize("after", STATUSES)
@pytest.mark.parametrize("before", STATUSES)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_version_1_moves_by_the_same_rules(shop: Shop, before: str, after: str, method: str) -> None:
    order = await shop.order(status=before)
    body = {"status": after} if method == "PATCH" else {**order.body, "status": after}
    path = f"/api/sales-orders/{order.id}"
    if before == after:
        assert (await shop.world.call(method, path, body)).raw == order.raw
    elif (before, after) in ALLOWED:
        answer = await shop.world.call(method, path, body, events=ALLOWED[(before, after)].events)
        assert answer.body["status"] == after
    else:
        await shop.world.call(method, path, body, status=409)
        assert (await shop.world.call("GET", path)).raw == order.raw


async def test_the_table_of_the_decisions_is_the_table_of_the_code() -> None:
    assert {(before, after) for before in STATUSES for after in TRANSITIONS.allowed_from(before)} == set(ALLOWED)


def test_the_guide_has_the_same_table() -> None:
    guide = (Path(docs.__file__).parent / "sales-orders.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in guide.splitlines() if line.startswith("|")]
    assert {(before, after) for before, after in rows if before in STATUSES} == set(ALLOWED)


async def test_the_event_of_a_move_has_the_specified_keys(shop: Shop) -> None:
    order = await shop.order()
    before = await shop.world.last_event()
    await shop.world.call("PATCH", f"/api/v2/sales-orders/{order.id}/status", {"status": "IN_LUCRU"}, events=MOVED)
    ((_, data),) = await shop.world.events_after(before)
    assert data == {
        "id": order.id,
        "code": "SO-000001",
        "status": "IN_LUCRU",
        "previous_status": "CREAT",
        "partner_id": 1,
        "warehouse_id": 1,
    }


async def test_the_history_has_the_time_of_each_status(shop: Shop) -> None:
    shop.world.clock.advance(1)
    order = await shop.order()
    shop.world.clock.advance(60)
    moved = await shop.world.call(
        "PATCH", f"/api/v2/sales-orders/{order.id}/status", {"status": "IN_LUCRU"}, events=MOVED
    )
    assert moved.body["status_history"] == [
        {"status": "CREAT", "at": "2026-11-20T12:00:01.000Z"},
        {"status": "IN_LUCRU", "at": "2026-11-20T12:01:01.000Z"},
    ]


async def test_several_lines_of_one_place_are_told_once(shop: Shop) -> None:
    lines = [{"article_id": 1, "quantity": quantity} for quantity in (1, 2, 3)]
    order = await shop.order(*lines, {"article_id": 2, "quantity": 1}, status="IN_LUCRU")
    path = f"/api/v2/sales-orders/{order.id}/status"
    events = ["sales_order.status_changed", "stock.updated", "stock.updated"]
    await shop.world.call("PATCH", path, {"status": "INCARCAT"}, events=events)
    assert await shop.ledger() == [("loading", -1), ("loading", -2), ("loading", -3), ("loading", -1)]
    assert await shop.stock() == (14, 0, 14)
    await shop.world.call("PATCH", path, {"status": "IN_LUCRU"}, events=events)
    assert await shop.stock() == (20, 6, 14)


async def test_the_ledger_says_who_moved_what_for_which_line(shop: Shop) -> None:
    order = await shop.order(status="INCARCAT")
    columns = "document_id, document_line_id, actor, occurred_at"
    moved = await shop.world.rows(f"SELECT {columns} FROM stock_movements WHERE kind = 'loading'")
    assert moved == [(order.id, order.body["lines"][0]["id"], "admin@example.com (test)", NOON)]


async def test_stock_low_is_told_when_an_order_takes_available_to_min_stock_and_again_after_it_recovered(
    shop: Shop,
) -> None:
    async def create(quantity: float, *events: str) -> int:
        body = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": quantity}]}
        answer = await shop.world.call(
            "POST", "/api/sales-orders", body, status=201, events=["sales_order.created", "stock.updated", *events]
        )
        return answer.id

    await create(9)
    low = await create(1, "stock.low")
    await create(1)
    await shop.world.call(
        "PATCH", f"/api/v2/sales-orders/{low}/status", {"status": "ANULAT"}, events=MOVED_WITH_STOCK
    )
    assert await shop.stock() == (20, 10, 10), "10 is not above min_stock, so it has not recovered"
    await create(1)
    first = "/api/v2/sales-orders/1/status"
    await shop.world.call("PATCH", first, {"status": "ANULAT"}, events=MOVED_WITH_STOCK)
    await create(8, "stock.low")


async def test_goods_that_a_full_balance_cannot_take_back_stay_loaded(shop: Shop) -> None:
    order = await shop.order(status="INCARCAT")
    await shop.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,999999999.999999\n")
    path = f"/api/v2/sales-orders/{order.id}/status"
    answer = await shop.world.call("PATCH", path, {"status": "IN_LUCRU"}, status=422)
    assert answer.errors == {
        "status": ["would raise a stock balance above 999999999.999999; count the stock first"]
    }
    assert (await shop.world.call("GET", f"/api/sales-orders/{order.id}")).raw == order.raw
    await shop.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,17\n")
    await shop.world.call("PATCH", path, {"status": "IN_LUCRU"}, events=MOVED_WITH_STOCK)


async def count(shop: Shop, quantity: str) -> None:
    await shop.world.import_csv("stock", f"article_code,warehouse_code,quantity\nA,MAIN,{quantity}\n")


async def test_unloading_brings_a_balance_to_the_largest_and_no_further(shop: Shop) -> None:
    """Two lines of the same stock record, 5 and 2, are unloaded together."""
    lines = ({"article_id": 1, "quantity": 5}, {"article_id": 1, "quantity": 2})
    order = await shop.order(*lines, status="INCARCAT")
    path, back = f"/api/v2/sales-orders/{order.id}/status", {"status": "IN_LUCRU"}
    await count(shop, "999999992.999999")
    await shop.world.call("PATCH", path, back, events=MOVED_WITH_STOCK)
    assert await shop.stock() == (999999999.999999, 7, 999999992.999999)


async def test_unloading_past_the_largest_balance_is_refused(shop: Shop) -> None:
    lines = ({"article_id": 1, "quantity": 5}, {"article_id": 1, "quantity": 2})
    order = await shop.order(*lines, status="INCARCAT")
    path, back = f"/api/v2/sales-orders/{order.id}/status", {"status": "IN_LUCRU"}
    await count(shop, "999999993")
    refused = await shop.world.call("PATCH", path, back, status=422)
    assert refused.errors == {
        "status": ["would raise a stock balance above 999999999.999999; count the stock first"]
    }
    assert await shop.stock() == (999999993, 0, 999999993)
