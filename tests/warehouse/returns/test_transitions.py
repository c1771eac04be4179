"""Every move of a return, and the effect of each disposition on stock, quarantine, ledger and events."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.dock import LOT, SERIAL, Dock
from tests.support.shop import Shop
from tests.support.world import Answer
from wmsd import docs
from wmsd.warehouse.returns.rules import DISPOSITIONS, STATUSES, TRANSITIONS

PATH = "/api/returns"
MOVED = ["return.status_changed"]
ALLOWED = {("CREAT", "RECEPTIONAT"), ("CREAT", "ANULAT"), ("RECEPTIONAT", "FINALIZAT")}
WAYS = {
    "CREAT": (),
    "RECEPTIONAT": ("RECEPTIONAT",),
    "FINALIZAT": ("RECEPTIONAT", "FINALIZAT"),
    "ANULAT": ("ANULAT",),
}
RESTOCKED = {"article_id": 1, "quantity": 3, "disposition": "RESTOC"}


async def bring_back(shop: Shop, *lines: dict[str, Any], status: str = "CREAT", **fields: Any) -> Answer:
    """Create a return and move it to `status`."""
    body = {"partner_id": 1, "warehouse_id": 1, "lines": list(lines) or [RESTOCKED], **fields}
    answer = await shop.world.send("POST", PATH, body)
    assert answer.status == 201, answer.raw
    for step in WAYS[status]:
        answer = await shop.world.send("PATCH", f"{PATH}/{answer.id}", {"status": step})
        assert answer.status == 200, answer.raw
    return answer


@pytest.mark.parametrize("after", STATUSES)
@pytest.mark.parametrize("before", STATUSES)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_each_of_the_16_moves(shop: Shop, before: str, after: str, method: str) -> None:
    made = await bring_back(shop, status=before)
    stands = {"CREAT": 20, "RECEPTIONAT": 20, "FINALIZAT": 23, "ANULAT": 20}
    body = {"status": after} if method == "PATCH" else {**made.body, "status": after}
    path = f"{PATH}/{made.id}"
    if before == after:
        assert (await shop.world.call(method, path, body)).raw == made.raw
    elif (before, after) in ALLOWED:
        events = [*MOVED, "stock.updated"] if after == "FINALIZAT" else MOVED
        answer = await shop.world.call(method, path, body, events=events)
        assert [reached["status"] for reached in answer.body["status_history"]][-2:] == [before, after]
    else:
        answer = await shop.world.call(method, path, body, status=409)
        assert answer.body["code"] == "INVALID_STATUS"
        assert answer.body["details"] == {
            "current": before,
            "requested": after,
            "allowed": [to for to in STATUSES if (before, to) in ALLOWED],
        }
        assert (await shop.world.call("GET", path)).raw == made.raw
    stood = stands[after if (before, after) in ALLOWED else before]
    assert await shop.stock() == (stood, 0, stood)
    assert await shop.ledger() == ([("return", 3)] if stood == 23 else [])


async def test_the_table_of_the_decisions_is_the_table_of_the_code() -> None:
    assert {(before, after) for before in STATUSES for after in TRANSITIONS.allowed_from(before)} == ALLOWED


def test_the_guide_has_the_same_table() -> None:
    guide = (Path(docs.__file__).parent / "returns.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in guide.splitlines() if line.startswith("|")]
    assert {(before, after) for before, after in rows if before in STATUSES} == ALLOWED


@pytest.mark.parametrize(
    ("disposition", "figures", "ledger"),
    [
        ("RESTOC", (23, 0, 23), (3, 0, 0)),
        ("CARANTINA", (23, 3, 20), (3, 3, 0)),
        ("DISTRUS", (20, 0, 20), (0, 0, 3)),
    ],
)
async def test_each_disposition_acts_at_finalizat(
    shop: Shop, disposition: str, figures: tuple[float, float, float], ledger: tuple[float, float, float]
) -> None:
    made = await bring_back(shop, {"article_id": 1, "quantity": 3}, status="RECEPTIONAT")
    path = f"{PATH}/{made.id}"
    decided = {"status": "FINALIZAT", "lines": [{"id": 1, "disposition": disposition}]}
    stock_event = [] if disposition == "DISTRUS" else ["stock.updated"]
    await shop.world.call("PATCH", path, decided, events=["return.updated", *MOVED, *stock_event])
    (record,) = (await shop.world.call("GET", "/api/stock?article_id=1&warehouse_id=1")).body["data"]
    assert (record["quantity"], record["quarantined"], record["available"]) == figures
    rows = await shop.world.rows(
        "SELECT quantity / 1e6, quarantined / 1e6, destroyed / 1e6, reason, document_id, document_line_id, actor "
        "FROM stock_movements WHERE kind = 'return'"
    )
    assert rows == [(*ledger, disposition, made.id, 1, "admin@example.com (test)")]


async def test_every_line_needs_a_disposition_to_be_finished(shop: Shop) -> None:
    lines: list[dict[str, Any]] = [RESTOCKED, {"article_id": 2, "quantity": 1}, {"article_id": 1, "quantity": 1}]
    made = await bring_back(shop, *lines, status="RECEPTIONAT")
    answer = await shop.world.call("PATCH", f"{PATH}/{made.id}", {"status": "FINALIZAT"}, status=422)
    sentence = [f"is required to finish a return: choose one of {', '.join(DISPOSITIONS)}"]
    assert answer.errors == {"lines.1.disposition": sentence, "lines.2.disposition": sentence}
    assert (await shop.world.call("GET", f"{PATH}/{made.id}")).raw == made.raw
    assert (await shop.stock(), await shop.ledger()) == ((20, 0, 20), [])


async def test_after_it_arrived_lines_are_frozen_but_for_their_dispositions(shop: Shop) -> None:
    made = await bring_back(shop, status="RECEPTIONAT")
    path = f"{PATH}/{made.id}"
    line = made.body["lines"][0]
    for changed in ({**line, "quantity": 2}, {"article_id": 2, "quantity": 3}):
        answer = await shop.world.call("PATCH", path, {"lines": [changed]}, status=409)
        assert answer.body["message"] == "This return is RECEPTIONAT. Its lines cannot be changed any more."
    same = {"article_code": "A", "quantity": 3, "disposition": "DISTRUS"}
    answer = await shop.world.call("PATCH", path, {"lines": [same]}, events=["return.updated"])
    assert answer.body["lines"] == [{**line, "disposition": "DISTRUS"}]
    await shop.world.call("PATCH", path, {"notes": "late"}, events=["return.updated"])
    await shop.world.call("PATCH", path, {"status": "FINALIZAT"}, events=MOVED)
    await shop.world.call("PATCH", path, {"notes": "too late"}, status=409)


async def test_the_event_of_a_move_has_the_specified_keys(shop: Shop) -> None:
    made = await bring_back(shop)
    before = await shop.world.last_event()
    await shop.world.call("PATCH", f"{PATH}/{made.id}", {"status": "RECEPTIONAT"}, events=MOVED)
    ((_, data),) = await shop.world.events_after(before)
    named = {"id": 1, "code": "RT-000001", "partner_id": 1, "warehouse_id": 1}
    assert data == {**named, "status": "RECEPTIONAT", "previous_status": "CREAT"}


async def test_lots_and_serials_come_back_to_where_they_belong(dock: Dock) -> None:
    await bring_back(
        dock,
        {"article_id": LOT, "quantity": 2, "lot_number": "L", "disposition": "RESTOC"},
        {"article_id": LOT, "quantity": 1, "lot_number": "L", "disposition": "CARANTINA"},
        {"article_id": LOT, "quantity": 1, "lot_number": "M", "disposition": "DISTRUS"},
        {"article_id": SERIAL, "quantity": 1, "serials": ["S1"], "disposition": "RESTOC"},
        {"article_id": SERIAL, "quantity": 1, "serials": ["S2"], "disposition": "CARANTINA"},
        {"article_id": SERIAL, "quantity": 1, "serials": ["S3"], "disposition": "DISTRUS"},
        status="FINALIZAT",
    )
    assert (await dock.lots(LOT), await dock.serials()) == ({"L": (3, 2)}, ["S1", "S2"])
    body = {
        "partner_id": 1,
        "warehouse_id": 1,
        "lines": [{"article_id": SERIAL, "quantity": 1, "serials": ["S2"]}],
    }
    answer = await dock.world.call("POST", "/api/sales-orders", body, status=422)
    assert answer.errors == {"lines.0.serials.0": ["is not available in the warehouse of the line"]}
    body["lines"] = [{"article_id": LOT, "quantity": 3, "lot_number": "L"}]
    await dock.world.call("POST", "/api/sales-orders", body, status=422)


async def test_a_serial_that_is_there_already_does_not_come_back(dock: Dock) -> None:
    await dock.bring(SERIAL, {"quantity_um3pl": 1, "serial_data": ["S1"]})
    line = {"article_id": SERIAL, "quantity": 1, "serials": ["S1"], "disposition": "RESTOC"}
    made = await bring_back(dock, line, status="RECEPTIONAT")
    answer = await dock.world.call("PATCH", f"{PATH}/{made.id}", {"status": "FINALIZAT"}, status=422)
    assert answer.errors == {"lines.0.serials.0": ["is in stock already"]}


async def test_goods_that_a_balance_cannot_hold_are_refused(shop: Shop) -> None:
    await shop.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,999999999\n")
    made = await bring_back(shop, status="RECEPTIONAT")
    answer = await shop.world.call("PATCH", f"{PATH}/{made.id}", {"status": "FINALIZAT"}, status=422)
    assert answer.errors == {"lines.0.quantity": ["would raise the stock balance above 999999999.999999"]}


async def test_a_serial_that_is_in_stock_can_still_be_written_off(dock: Dock) -> None:
    """A return of a serial that is in stock can be written off, so its frozen lines do not block the return."""
    await dock.bring(SERIAL, {"quantity_um3pl": 1, "serial_data": ["S1"]})
    line = {"article_id": SERIAL, "quantity": 1, "serials": ["S1"], "disposition": "RESTOC"}
    made = await bring_back(dock, line, status="RECEPTIONAT")
    path, line_id = f"{PATH}/{made.id}", made.body["lines"][0]["id"]
    await dock.world.call("PATCH", path, {"status": "FINALIZAT"}, status=422)
    decided = {"status": "FINALIZAT", "lines": [{"id": line_id, "disposition": "DISTRUS"}]}
    await dock.world.call("PATCH", path, decided, events=["return.updated", *MOVED])
    assert await dock.serials() == ["S1"]
