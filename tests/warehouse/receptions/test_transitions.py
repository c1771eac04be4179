"""Every move of a reception: whether it is allowed, and its effect on stock, ledger, order and events."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.dock import LENIENT, LOT, SERIAL, Dock, arrival
from tests.support.world import Answer
from wmsd import docs
from wmsd.warehouse.purchase_orders.rules import BY_RECEPTIONS
from wmsd.warehouse.receptions.rules import STATUSES, TRANSITIONS

PATH = "/api/receptions"
MOVED = ("reception.status_changed",)
COMPLETED = ("reception.status_changed", "purchase_order.status_changed", "stock.updated")
WAYS = {"CREAT": (), "IN_LUCRU": ("IN_LUCRU",), "FINALIZAT": ("FINALIZAT",), "ANULAT": ("ANULAT",)}


@dataclass(frozen=True)
class Outcome:
    """The state after the move: stock as quantity, reserved and available; the new ledger entries; the order; the
    events.
    """

    stock: tuple[float, float, float] = (20, 0, 20)
    ledger: tuple[tuple[str, float], ...] = ()
    order: tuple[str, list[float]] = ("CREAT", [0])
    events: tuple[str, ...] = MOVED


RECEIVED = Outcome((25, 0, 25), (("receipt", 5),), ("RECEPTIONAT", [5]), COMPLETED)
ALLOWED = {
    ("CREAT", "IN_LUCRU"): Outcome(),
    ("CREAT", "FINALIZAT"): RECEIVED,
    ("CREAT", "ANULAT"): Outcome(),
    ("IN_LUCRU", "FINALIZAT"): RECEIVED,
    ("IN_LUCRU", "ANULAT"): Outcome(),
}


async def draft(dock: Dock, order: Answer, *items: dict[str, Any], status: str = "CREAT") -> Answer:
    """Create a reception of the order and move it to `status`."""
    answer = await dock.receive(order, *items, status="CREAT")
    for step in WAYS[status]:
        answer = await dock.world.send("PATCH", f"{PATH}/{answer.id}", {"status": step})
        assert answer.status == 200, answer.raw
    return answer


@pytest.mark.parametrize("after", STATUSES)
@pytest.mark.parametrize("before", STATUSES)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_each_of_the_16_moves(dock: Dock, before: str, after: str, method: str) -> None:
    order = await dock.purchase((1, 5))
    reception = await draft(dock, order, status=before)
    body = {"status": after} if method == "PATCH" else {**reception.body, "status": after}
    path = f"{PATH}/{reception.id}"
    outcome = ALLOWED.get((before, after))
    if outcome is not None:
        answer = await dock.world.call(method, path, body, events=outcome.events)
        assert answer.body["status"] == after
        assert [reached["status"] for reached in answer.body["status_history"]][-2:] == [before, after]
    elif before == after:
        answer = await dock.world.call(method, path, body)
        assert answer.raw == reception.raw
    else:
        answer = await dock.world.call(method, path, body, status=409)
        assert answer.body["code"] == "INVALID_STATUS"
        assert answer.body["details"] == {
            "current": before,
            "requested": after,
            "allowed": [to for start, to in ALLOWED if start == before],
        }
        assert (await dock.world.call("GET", path)).raw == reception.raw
    outcome = outcome or (RECEIVED if before == "FINALIZAT" else Outcome())
    assert await dock.stock() == outcome.stock
    assert await dock.ledger() == list(outcome.ledger)
    assert await dock.purchase_order(order) == outcome.order


async def test_the_table_of_the_decisions_is_the_table_of_the_code() -> None:
    assert {(before, after) for before in STATUSES for after in TRANSITIONS.allowed_from(before)} == set(ALLOWED)
    assert {("CREAT", "PARTIAL"), ("PARTIAL", "RECEPTIONAT"), ("CREAT", "RECEPTIONAT")} == BY_RECEPTIONS


def test_the_guide_has_the_same_table() -> None:
    guide = (Path(docs.__file__).parent / "inbound.md").read_text(encoding="utf-8")
    table = guide[guide.index("### Changing the status of a reception") :]
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in table.splitlines() if line.startswith("|")]
    assert {(before, after) for before, after in rows if before in STATUSES} == set(ALLOWED)


async def test_posting_at_once_tells_the_whole_story_in_order(dock: Dock) -> None:
    order = await dock.purchase((1, 10), (2, 4))
    before = await dock.world.last_event()
    item = {"po_item_id": 1, "quantity_um3pl": 4}
    names = [
        "reception.created",
        "reception.status_changed",
        "purchase_order.status_changed",
        "reception.partial",
        "stock.updated",
    ]
    answer = await dock.world.call("POST", PATH, arrival(order, item), status=201, events=names)
    assert answer.body["status"] == "FINALIZAT"
    assert answer.body["selected_items"][0]["quantity"] == 4
    created, moved, ordered, partial, stock = [data for _, data in await dock.world.events_after(before)]
    assert (created["status"], created["selected_items"][0]["quantity"]) == ("CREAT", None)
    named = {"id": 1, "code": "RC-000001", "status": "FINALIZAT", "purchase_order_id": 1, "warehouse_id": 1}
    assert moved == {**named, "previous_status": "CREAT"}
    assert (ordered["status"], ordered["previous_status"]) == ("PARTIAL", "CREAT")
    assert partial == {
        **named,
        "remaining": [
            {"po_item_id": 1, "ordered": 10, "received": 4, "remaining": 6},
            {"po_item_id": 2, "ordered": 4, "received": 0, "remaining": 4},
        ],
    }
    assert (stock["quantity"], stock["available"]) == (24, 24)


async def test_an_order_is_received_in_parts_until_it_is_complete(dock: Dock) -> None:
    order = await dock.purchase((1, 10), (2, 4))
    first, second = ({"po_item_id": number, "quantity_um3pl": 4} for number in (1, 2))
    partial = ("reception.created", "reception.status_changed", "reception.partial")
    await dock.receive(order, first)
    assert await dock.purchase_order(order) == ("PARTIAL", [4, 0])
    etag = (await dock.world.call("GET", "/api/purchase-orders/1")).headers["ETag"]
    sent = arrival(order, second)
    await dock.world.call("POST", PATH, sent, status=201, events=[*partial, "stock.updated"])
    shown = await dock.world.call("GET", "/api/purchase-orders/1")
    assert (shown.body["status"], [item["received_quantity"] for item in shown.body["items"]]) == (
        "PARTIAL",
        [4, 4],
    )
    assert shown.headers["ETag"] != etag
    await dock.receive(order, {"po_item_id": 1, "quantity_um3pl": 6})
    assert await dock.purchase_order(order) == ("RECEPTIONAT", [10, 4])
    answer = await dock.world.call("POST", PATH, arrival(order, first), status=422)
    assert answer.errors == {
        "selected_items.0.quantity_um3pl": [
            "is more than the order still allows: you entered 4, and 0 of 10 can still be received"
        ]
    }


async def test_an_order_that_receptions_completed_takes_more_up_to_its_tolerance(dock: Dock) -> None:
    await dock.set_over_receipt_pct(2)
    order = await dock.purchase((1, 10_000))
    late = await draft(dock, order, {"po_item_id": 1, "quantity_um3pl": 50})
    for quantity in (9_950, 50, 100):
        await dock.receive(order, {"po_item_id": 1, "quantity_um3pl": quantity})
    assert await dock.purchase_order(order) == ("RECEPTIONAT", [10_100])
    await dock.world.call("PATCH", f"{PATH}/{late.id}", {"status": "FINALIZAT"}, events=[*MOVED, "stock.updated"])
    assert await dock.purchase_order(order) == ("RECEPTIONAT", [10_150])
    half = arrival(order, {"po_item_id": 1, "quantity_um3pl": 25})
    answers = await asyncio.gather(*(dock.world.send("POST", PATH, half) for _ in range(5)))
    assert sorted(answer.status for answer in answers) == [201, 201, 422, 422, 422]
    assert await dock.purchase_order(order) == ("RECEPTIONAT", [10_200])


async def test_an_order_that_is_closed_short_or_cancelled_is_received_no_more(dock: Dock) -> None:
    short, cancelled = await dock.purchase((1, 10)), await dock.purchase((1, 10))
    await dock.receive(short, {"po_item_id": 1, "quantity_um3pl": 4})
    drafts = [
        await draft(dock, short, {"po_item_id": 1, "quantity_um3pl": 6}),
        await draft(dock, cancelled),
    ]
    for order, status in ((short, "RECEPTIONAT"), (cancelled, "ANULAT")):
        path = f"/api/purchase-orders/{order.id}"
        await dock.world.call("PATCH", path, {"status": status}, events=["purchase_order.status_changed"])
    for each in drafts:
        answer = await dock.world.call("PATCH", f"{PATH}/{each.id}", {"status": "FINALIZAT"}, status=409)
        assert answer.body["details"] == {
            "current": "CREAT",
            "requested": "FINALIZAT",
            "allowed": ["IN_LUCRU", "ANULAT"],
        }
        answer = await dock.world.call("PATCH", f"{PATH}/{each.id}", {"notes": "late"}, status=409)
        assert answer.body["details"]["allowed"] == ["IN_LUCRU", "ANULAT"]
        cancelled_now = {"status": "ANULAT", "notes": "not needed any more"}
        answer = await dock.world.call(
            "PATCH", f"{PATH}/{each.id}", cancelled_now, events=["reception.updated", *MOVED]
        )
        assert (answer.body["status"], answer.body["notes"]) == ("ANULAT", "not needed any more")
    for order, status in ((short, "RECEPTIONAT"), (cancelled, "ANULAT")):
        wrong = arrival(order, {"po_item_id": order.id, "quantity_um3pl": 7}) | {"warehouse_id": 99}
        answer = await dock.world.call("POST", PATH, wrong, status=409)
        assert answer.body["code"] == "INVALID_STATUS"
        assert answer.body["details"] == {"current": status, "requested": None, "allowed": []}
        sentence = f"is {status}: no more goods can be received for {order.body['code']}"
        assert answer.errors["purchase_order_id"] == [sentence]
        assert "warehouse_id" in answer.errors, "what else is wrong is told with it"
    assert await dock.purchase_order(short) == ("RECEPTIONAT", [4])
    assert await dock.stock() == (24, 0, 24)


async def test_two_drafts_that_together_go_over_the_order_the_first_is_posted(dock: Dock) -> None:
    order = await dock.purchase((1, 10))
    item = {"po_item_id": 1, "quantity_um3pl": 6}
    first, second = await draft(dock, order, item), await draft(dock, order, item)
    events = ("reception.status_changed", "purchase_order.status_changed", "reception.partial", "stock.updated")
    await dock.world.call("PATCH", f"{PATH}/{second.id}", {"status": "FINALIZAT"}, events=events)
    answer = await dock.world.call("PATCH", f"{PATH}/{first.id}", {"status": "FINALIZAT"}, status=422)
    assert answer.errors == {
        "selected_items.0.quantity_um3pl": [
            "is more than the order still allows: you entered 6, and 4 of 10 can still be received"
        ]
    }
    changed = {"selected_items": [{"po_item_id": 1, "quantity_um3pl": 4}], "status": "FINALIZAT"}
    events = ("reception.updated", "reception.status_changed", "purchase_order.status_changed", "stock.updated")
    await dock.world.call("PATCH", f"{PATH}/{first.id}", changed, events=events)
    assert await dock.purchase_order(order) == ("RECEPTIONAT", [10])


@pytest.mark.parametrize(
    ("article", "company_pct", "most"), [(1, 0, 10), (1, 5, 10.5), (LENIENT, 0, 11), (LENIENT, 50, 11)]
)
async def test_over_receipt_is_the_articles_tolerance_or_else_the_companys(
    dock: Dock, article: int, company_pct: int, most: float
) -> None:
    await dock.set_over_receipt_pct(company_pct)
    order = await dock.purchase((article, 10))
    too_much = arrival(order, *({"po_item_id": 1, "quantity_um3pl": part} for part in (most - 1, 1.000001)))
    answer = await dock.world.call("POST", PATH, too_much, status=422)
    assert list(answer.errors) == ["selected_items.0.quantity_um3pl", "selected_items.1.quantity_um3pl"]
    await dock.receive(order, {"po_item_id": 1, "quantity_um3pl": 9})
    await dock.receive(order, {"po_item_id": 1, "quantity_um3pl": most - 9})
    assert await dock.purchase_order(order) == ("RECEPTIONAT", [most])


async def test_the_ledger_says_which_lot_and_serial_came_for_which_item(dock: Dock) -> None:
    order = await dock.purchase((LOT, 5), (SERIAL, 2))
    answer = await dock.receive(
        order,
        {"po_item_id": 1, "quantity_um3pl": 2, "lot_number": "L1"},
        {"po_item_id": 1, "quantity_um3pl": 3, "lot_number": "L2"},
        {"po_item_id": 2, "quantity_um3pl": 2, "serial_data": ["S2", "S1"], "lot_number": "M"},
    )
    rows = await dock.world.rows(
        "SELECT quantity / 1000000.0, lot_number, serial, document_id, document_line_id, actor "
        "FROM stock_movements WHERE kind = 'receipt' ORDER BY id"
    )
    who = "admin@example.com (test)"
    assert rows == [
        (2, "L1", None, answer.id, 1, who),
        (3, "L2", None, answer.id, 2, who),
        (1, "M", "S2", answer.id, 3, who),
        (1, "M", "S1", answer.id, 3, who),
    ]
    assert await dock.lots(LOT) == {"L1": (2, 2), "L2": (3, 3)}
    assert (await dock.lots(SERIAL), await dock.serials()) == ({"M": (2, 2)}, ["S2", "S1"])


async def test_a_serial_is_in_stock_once(dock: Dock) -> None:
    await dock.bring(SERIAL, {"quantity_um3pl": 1, "serial_data": ["S1"]})
    order = await dock.purchase((SERIAL, 2))
    sent = arrival(order, {"po_item_id": 2, "quantity_um3pl": 2, "serial_data": ["S0", "S1"]}, warehouse_id=2)
    answer = await dock.world.call("POST", PATH, sent, status=422)
    assert answer.errors == {"selected_items.0.serial_data.1": ["is in stock already"]}


async def test_a_serial_that_came_in_after_the_draft_is_refused_when_it_is_posted(dock: Dock) -> None:
    order = await dock.purchase((SERIAL, 2))
    item = {"po_item_id": 1, "quantity_um3pl": 1, "serial_data": ["S1"]}
    late = await draft(dock, order, item)
    await dock.receive(order, item)
    answer = await dock.world.call("PATCH", f"{PATH}/{late.id}", {"status": "FINALIZAT"}, status=422)
    assert answer.errors == {"selected_items.0.serial_data.0": ["is in stock already"]}


async def test_goods_that_a_balance_cannot_hold_are_refused(dock: Dock) -> None:
    await dock.world.import_csv("stock", "article_code,warehouse_code,quantity\nB,MAIN,999999999\n")
    order = await dock.purchase((2, 10))
    items = [{"po_item_id": 1, "quantity_um3pl": part} for part in (0.5, 0.5)]
    answer = await dock.world.call("POST", PATH, arrival(order, *items), status=422)
    sentence = "would raise the stock balance above 999999999.999999"
    assert answer.errors == {"selected_items.1.quantity_um3pl": [sentence]}
    assert await dock.world.rows("SELECT * FROM receptions") == []


async def test_what_arrives_recovers_a_low_stock(dock: Dock) -> None:
    await dock.order({"article_id": 1, "quantity": 12})
    await dock.bring(1, {"quantity_um3pl": 5})
    body = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 5}]}
    events = ["sales_order.created", "stock.updated", "stock.low"]
    await dock.world.call("POST", "/api/sales-orders", body, status=201, events=events)
