"""Returns over HTTP: what is created, refused, changed and listed. The order that shipped the goods sets the
limit.
"""

import asyncio
from collections import Counter
from typing import Any

import pytest

from tests.support.dock import LOT, SERIAL, Dock
from tests.support.shop import Shop
from tests.support.world import Answer
from wmsd.warehouse.sales_orders.rules import TRANSITIONS, Status

PATH = "/api/returns"
CREATED = ["return.created"]
UPDATED = ["return.updated"]


def body(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "partner_id": 1,
        "warehouse_id": 1,
        "lines": list(lines) or [{"article_id": 1, "quantity": 3}],
        **fields,
    }


async def bring_back(shop: Shop, *lines: dict[str, Any], **fields: Any) -> Answer:
    return await shop.world.call("POST", PATH, body(*lines, **fields), status=201, events=CREATED)


async def test_a_free_return_answers_whole_with_its_address_and_moves_nothing(shop: Shop) -> None:
    shop.world.clock.advance(1)
    sent = body(
        {"article_code": "A", "quantity": 3, "disposition": "RESTOC"},
        {"article_id": 2, "quantity": 0.3, "lot_number": "L"},
        reason="Wrong colour",
        external_ref="RMA-1",
        notes="Pallet 3",
    )
    answer = await shop.world.call("POST", PATH, sent, status=201, events=CREATED)
    assert answer.headers["Location"] == f"{PATH}/1"
    of_b = {"id": 2, "article_id": 2, "article_code": "B", "quantity": 0.3, "disposition": None}
    of_a = {"id": 1, "article_id": 1, "article_code": "A", "quantity": 3, "disposition": "RESTOC"}
    assert answer.body == {
        "id": 1,
        "code": "RT-000001",
        "status": "CREAT",
        "partner_id": 1,
        "warehouse_id": 1,
        "sales_order_id": None,
        "reason": "Wrong colour",
        "external_ref": "RMA-1",
        "notes": "Pallet 3",
        "lines": [{**of_a, "lot_number": None, "serials": None}, {**of_b, "lot_number": "L", "serials": None}],
        "status_history": [{"status": "CREAT", "at": "2026-11-20T12:00:01.000Z"}],
        "created_at": "2026-11-20T12:00:01.000Z",
        "updated_at": "2026-11-20T12:00:01.000Z",
    }
    assert (await shop.world.call("GET", f"{PATH}/1")).raw == answer.raw
    assert (await shop.stock(), await shop.ledger()) == ((20, 0, 20), [])


async def test_what_get_shows_can_be_sent_back(shop: Shop) -> None:
    made = await bring_back(shop, {"article_id": 1, "quantity": 1, "lot_number": "L", "disposition": "DISTRUS"})
    for method in ("PUT", "PATCH"):
        assert (await shop.world.call(method, f"{PATH}/1", made.body)).raw == made.raw


@pytest.mark.parametrize(
    ("fields", "code", "errors"),
    [
        ({"partner_id": 3}, "INVALID_PARTNER", {"partner_id": ["is an inactive partner"]}),
        ({"partner_id": 9}, "INVALID_PARTNER", {"partner_id": ["is not a partner of this company"]}),
        ({"warehouse_id": 9}, "INVALID_WAREHOUSE", {"warehouse_id": ["is not a warehouse of this company"]}),
        (
            {"sales_order_id": 9},
            "VALIDATION_FAILED",
            {"sales_order_id": ["is not a sales order of this company"]},
        ),
        (
            {"status": "RECEPTIONAT"},
            "VALIDATION_FAILED",
            {"status": ["must be CREAT, the first status of every return"]},
        ),
        ({"code": "TAKEN"}, "VALIDATION_FAILED", {"code": ["is taken by another return"]}),
        ({"external_ref": "TAKEN"}, "EXTERNAL_REF_TAKEN", {"external_ref": ["is taken by another return"]}),
        (
            {"lines": [{"article_id": 9, "quantity": 1}]},
            "INVALID_ARTICLE",
            {"lines.0.article_id": ["is not an article of this company"]},
        ),
        (
            {"lines": [{"quantity": 1}]},
            "VALIDATION_FAILED",
            {"lines.0.article_id": ["is required unless article_code is given"]},
        ),
        ({"lines": [{"article_id": 1}]}, "VALIDATION_FAILED", {"lines.0.quantity": ["is required"]}),
        (
            {"lines": [{"article_id": 1, "quantity": 1, "disposition": "SELL"}]},
            "VALIDATION_FAILED",
            {"lines.0.disposition": ["must be 'RESTOC', 'CARANTINA' or 'DISTRUS'"]},
        ),
        (
            {"lines": [{"article_id": 1, "quantity": 1, "serials": ["S"]}]},
            "VALIDATION_FAILED",
            {"lines.0.serials": ["must be empty: the article is not tracked by serials"]},
        ),
        ({"lines": []}, "VALIDATION_FAILED", {"lines": ["must have at least 1 item"]}),
    ],
)
async def test_a_return_that_is_refused_leaves_nothing(
    shop: Shop, fields: dict[str, Any], code: str, errors: dict[str, list[str]]
) -> None:
    await bring_back(shop, code="TAKEN", external_ref="TAKEN")
    answer = await shop.world.call(
        "POST", PATH, body(**fields) if "lines" not in fields else body() | fields, status=422
    )
    assert (answer.body["code"], answer.errors) == (code, errors)
    assert (await bring_back(shop)).body["code"] == "RT-000001"


@pytest.mark.parametrize("status", ["CREAT", "IN_LUCRU", "ANULAT", "INCARCAT", "LIVRAT"])
async def test_only_of_a_loaded_order_goods_come_back(shop: Shop, status: Status) -> None:
    order = await shop.order(status=status)
    sent = body(sales_order_id=order.id)
    if status in ("INCARCAT", "LIVRAT"):
        await shop.world.call("POST", PATH, sent, status=201, events=CREATED)
        return
    answer = await shop.world.call("POST", PATH, sent, status=409)
    assert answer.errors == {"sales_order_id": [f"is {status}: only loaded goods can be returned"]}
    allowed = TRANSITIONS.allowed_from(status)
    assert answer.body["code"] == "INVALID_STATUS"
    assert answer.body["details"] == {"current": status, "requested": None, "allowed": allowed}
    free = await shop.world.call("POST", PATH, body(), status=201, events=CREATED)
    bound = await shop.world.call("PATCH", f"{PATH}/{free.id}", {"sales_order_id": order.id}, status=409)
    assert bound.raw == answer.raw


async def test_another_partner_cannot_bring_back_what_an_order_shipped(shop: Shop) -> None:
    order = await shop.order(status="LIVRAT")
    answer = await shop.world.call("POST", PATH, body(sales_order_id=order.id, partner_id=2), status=422)
    assert answer.body["code"] == "INVALID_PARTNER"
    assert answer.errors == {"partner_id": ["is not the partner of the sales order SO-000001"]}


async def test_a_return_stays_a_partners_where_its_order_got_another(shop: Shop) -> None:
    """Earlier versions allowed such a change of an order."""
    order = await shop.order(status="INCARCAT")
    made = await bring_back(shop, sales_order_id=order.id)
    other = "UPDATE sales_orders SET partner_id = 2 WHERE id = ?"
    await (await shop.world.database()).write(lambda tx: tx.execute(other, (order.id,)))
    decided = {"lines": [{"id": made.body["lines"][0]["id"], "disposition": "RESTOC"}]}
    await shop.world.call("PATCH", f"{PATH}/{made.id}", decided, events=UPDATED)
    await shop.world.call("PATCH", f"{PATH}/{made.id}", {"partner_id": 2}, events=UPDATED)
    await shop.world.call("PATCH", f"{PATH}/{made.id}", {"partner_id": 1}, status=422)


async def test_over_all_returns_never_more_comes_back_than_was_shipped(shop: Shop) -> None:
    lines: list[dict[str, Any]] = [
        {"article_id": 1, "quantity": 3},
        {"article_id": 1, "quantity": 2, "warehouse_id": 2},
    ]
    order = await shop.order(*lines, status="LIVRAT")
    first = await bring_back(shop, {"article_id": 1, "quantity": 4}, sales_order_id=order.id)
    two: list[dict[str, Any]] = [{"article_id": 1, "quantity": 1}, {"article_id": 1, "quantity": 0.000001}]
    sent = body(*two, {"article_id": 2, "quantity": 1}, sales_order_id=order.id)
    answer = await shop.world.call("POST", PATH, sent, status=422)
    of_a = "is more than can be returned: you entered 1.000001, 5 were shipped, and 1 can still be returned"
    of_b = "is more than can be returned: you entered 1, 0 were shipped, and 0 can still be returned"
    assert answer.errors == {"lines.0.quantity": [of_a], "lines.1.quantity": [of_a], "lines.2.quantity": [of_b]}
    await bring_back(shop, {"article_id": 1, "quantity": 1}, sales_order_id=order.id)
    more = {"lines": [{"id": first.body["lines"][0]["id"], "quantity": 4.5}]}
    await shop.world.call("PATCH", f"{PATH}/{first.id}", more, status=422)
    less = {"lines": [{"id": first.body["lines"][0]["id"], "quantity": 3.5}]}
    await shop.world.call("PATCH", f"{PATH}/{first.id}", less, events=UPDATED)
    moved = ["return.status_changed"]
    await shop.world.call("PATCH", f"{PATH}/{first.id}", {"status": "ANULAT"}, events=moved)
    await bring_back(shop, {"article_id": 1, "quantity": 4}, sales_order_id=order.id)


async def test_20_connections_bring_an_order_back_at_most_once(shop: Shop) -> None:
    order = await shop.order({"article_id": 1, "quantity": 10}, status="LIVRAT")
    sent = body({"article_id": 1, "quantity": 3}, sales_order_id=order.id)
    answers = await asyncio.gather(*(shop.world.send("POST", PATH, sent) for _ in range(20)))
    assert Counter(answer.status for answer in answers) == {201: 3, 422: 17}


async def test_a_free_return_that_is_bound_later_is_held_to_the_order_too(shop: Shop) -> None:
    order = await shop.order(status="LIVRAT")
    made = await bring_back(shop, {"article_id": 1, "quantity": 4})
    bound = {"sales_order_id": order.id}
    answer = await shop.world.call("PATCH", f"{PATH}/{made.id}", bound, status=422)
    assert list(answer.errors) == ["lines.0.quantity"]
    fitting = bound | {"lines": [{"article_id": 1, "quantity": 3}]}
    await shop.world.call("PATCH", f"{PATH}/{made.id}", fitting, events=UPDATED)


async def test_an_order_with_returns_keeps_its_partner_and_client(shop: Shop) -> None:
    order = await shop.order(status="INCARCAT")
    made = await bring_back(shop, sales_order_id=order.id)
    await shop.world.import_csv("clients", "code,name\nC1,Owner\n")
    path, others = f"/api/sales-orders/{order.id}", {"partner_id": 2, "client_id": 1}
    for name, other in others.items():
        for status in ("INCARCAT", "LIVRAT"):
            sent = {name: other, "status": status}
            answer = await shop.world.call("PATCH", path, sent, status=409)
            sentence = f"Return RT-000001 refers to this sales order, so {name} of the order cannot be changed."
            assert (answer.body["message"], answer.body["details"]["allowed"]) == (sentence, ["LIVRAT"])
    await shop.world.call("PATCH", path, {"partner_id": 1, "notes": "x"}, events=["sales_order.updated"])
    await shop.world.send("PATCH", f"{PATH}/{made.id}", {"status": "ANULAT"})
    changed = await shop.world.call("PATCH", path, others, events=["sales_order.updated"])
    assert {name: changed.body[name] for name in others} == others


async def test_what_came_back_is_not_unloaded_again(shop: Shop) -> None:
    order = await shop.order(status="INCARCAT")
    made = await bring_back(shop, sales_order_id=order.id)
    path = f"/api/sales-orders/{order.id}"
    answer = await shop.world.call("PATCH", path, {"status": "IN_LUCRU"}, status=409)
    assert answer.body["message"] == (
        "Return RT-000001 has goods of this sales order, so the order cannot be unloaded."
    )
    await shop.world.send("PATCH", f"{PATH}/{made.id}", {"status": "ANULAT"})
    events = ["sales_order.status_changed", "stock.updated"]
    await shop.world.call("PATCH", path, {"status": "IN_LUCRU"}, events=events)


async def test_lots_and_serials_of_a_bound_return_are_those_that_left(dock: Dock) -> None:
    await dock.bring(LOT, {"quantity_um3pl": 2, "lot_number": "L1"}, {"quantity_um3pl": 2, "lot_number": "L2"})
    await dock.bring(SERIAL, {"quantity_um3pl": 2, "serial_data": ["S1", "S2"]})
    lines = [{"article_id": LOT, "quantity": 2}, {"article_id": SERIAL, "quantity": 1}]
    order = await dock.order(*lines, status="LIVRAT")
    wrong = [
        {"article_id": LOT, "quantity": 1, "lot_number": "L2"},
        {"article_id": SERIAL, "quantity": 1, "serials": ["S2"]},
    ]
    answer = await dock.world.call("POST", PATH, body(*wrong, sales_order_id=order.id), status=422)
    sentence = ["was not shipped with SO-000001"]
    assert answer.errors == {"lines.0.lot_number": sentence, "lines.1.serials.0": sentence}
    right = [wrong[0] | {"lot_number": "L1"}, wrong[1] | {"serials": ["S1"]}]
    await bring_back(dock, *right, sales_order_id=order.id)


async def test_over_all_returns_a_lot_comes_back_no_more_than_it_left(dock: Dock) -> None:
    await dock.bring(LOT, {"quantity_um3pl": 2, "lot_number": "L1"}, {"quantity_um3pl": 8, "lot_number": "L2"})
    order = await dock.order({"article_id": LOT, "quantity": 10}, status="LIVRAT")
    line = {"article_id": LOT, "lot_number": "L1"}
    first = await bring_back(dock, {**line, "quantity": 1}, sales_order_id=order.id)
    sent = body({**line, "quantity": 1}, {**line, "quantity": 0.5}, sales_order_id=order.id)
    answer = await dock.world.call("POST", PATH, sent, status=422)
    sentence = [
        "is more than can be returned of lot L1: you entered 1.5, 2 were shipped, and 1 can still be returned"
    ]
    assert answer.errors == {"lines.0.quantity": sentence, "lines.1.quantity": sentence}
    await dock.world.send("PATCH", f"{PATH}/{first.id}", {"status": "ANULAT"})
    await bring_back(dock, *sent["lines"], {"article_id": LOT, "quantity": 8}, sales_order_id=order.id)


async def test_a_serial_comes_back_once_and_of_the_lot_that_it_left_with(dock: Dock) -> None:
    await dock.world.import_csv("articles", "code,track_serial\nLOT,true\n")
    arrived = [{"quantity_um3pl": 2, "lot_number": lot, "serial_data": [f"{lot}-1", f"{lot}-2"]} for lot in "LM"]
    await dock.bring(LOT, *arrived)
    order = await dock.order({"article_id": LOT, "quantity": 4}, status="LIVRAT")
    line = {"article_id": LOT, "quantity": 1}
    await bring_back(dock, {**line, "serials": ["L-1"]}, sales_order_id=order.id)
    wrong = [{**line, "serials": ["L-1"]}, {**line, "lot_number": "M", "serials": ["L-2"]}]
    answer = await dock.world.call("POST", PATH, body(*wrong, sales_order_id=order.id), status=422)
    assert answer.errors == {
        "lines.0.serials.0": ["is already in another return of the sales order SO-000001"],
        "lines.1.serials.0": ["was not shipped with SO-000001 as part of lot M"],
    }
    right = {**line, "lot_number": "L", "serials": ["L-2"]}
    await bring_back(dock, right, sales_order_id=order.id)


async def test_what_was_loaded_first_and_then_unloaded_did_not_leave(dock: Dock) -> None:
    await dock.bring(LOT, {"quantity_um3pl": 2, "lot_number": "L1"}, {"quantity_um3pl": 2, "lot_number": "L2"})
    order = await dock.order({"article_id": LOT, "quantity": 2}, status="INCARCAT")
    for status in ("IN_LUCRU", "CREAT"):
        await dock.world.send("PATCH", f"/api/sales-orders/{order.id}", {"status": status})
    changed = {"lines": [{"article_id": LOT, "quantity": 2, "lot_number": "L2"}]}
    for change in (changed, {"status": "IN_LUCRU"}, {"status": "INCARCAT"}):
        await dock.world.send("PATCH", f"/api/sales-orders/{order.id}", change)
    line = {"article_id": LOT, "quantity": 1}
    sent = body({**line, "lot_number": "L1"}, sales_order_id=order.id)
    answer = await dock.world.call("POST", PATH, sent, status=422)
    assert answer.errors == {"lines.0.lot_number": ["was not shipped with SO-000001"]}
    await bring_back(dock, {**line, "lot_number": "L2"}, sales_order_id=order.id)


@pytest.mark.parametrize(
    ("line", "path", "sentence"),
    [
        (
            {"quantity": 2, "serials": ["S1"]},
            "serials",
            "must have one serial for each unit (units returned: 2, serials given: 1)",
        ),
        ({"quantity": 2, "serials": ["S1", "S1"]}, "serials.1", "is given twice"),
        ({"quantity": 1.5}, "quantity", "must be a whole number: the article is tracked by serials"),
    ],
)
async def test_serials_are_one_for_each_unit(dock: Dock, line: dict[str, Any], path: str, sentence: str) -> None:
    answer = await dock.world.call("POST", PATH, body({"article_id": SERIAL, **line}), status=422)
    assert answer.errors == {f"lines.0.{path}": [sentence]}


async def test_put_replaces_and_a_line_sent_with_its_id_keeps_what_is_not_sent(shop: Shop) -> None:
    made = await bring_back(
        shop,
        {"article_id": 1, "quantity": 3, "disposition": "RESTOC"},
        {"article_id": 2, "quantity": 1, "lot_number": "L"},
        reason="r",
    )
    sent = body({"id": 2, "quantity": 0.5}, {"article_code": "A", "quantity": 1}, notes="n")
    answer = await shop.world.call("PUT", f"{PATH}/{made.id}", sent, events=UPDATED)
    shown = [
        (line["id"], line["article_code"], line["quantity"], line["lot_number"]) for line in answer.body["lines"]
    ]
    assert shown == [(2, "B", 0.5, "L"), (3, "A", 1, None)]
    assert (answer.body["reason"], answer.body["notes"]) == (None, "n")


async def test_dispositions_alone_are_set_and_nothing_else_changes(shop: Shop) -> None:
    made = await bring_back(shop, {"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1})
    path = f"{PATH}/{made.id}"
    second = {"lines": [{"id": 2, "disposition": "DISTRUS"}]}
    for status in ("CREAT", "RECEPTIONAT"):
        if status == "RECEPTIONAT":
            await shop.world.call("PATCH", path, {"status": status}, events=["return.status_changed"])
            second["lines"][0]["disposition"] = "CARANTINA"
        answer = await shop.world.call("PATCH", path, second, events=UPDATED)
        dispositions = [line["disposition"] for line in answer.body["lines"]]
        assert dispositions == [None, second["lines"][0]["disposition"]]
    unknown = {"lines": [{"id": 2, "disposition": "RESTOC"}, {"id": 9, "disposition": "RESTOC"}]}
    answer = await shop.world.call("PATCH", path, unknown, status=422)
    assert answer.errors == {"lines.1.id": ["is not a line of this return"]}
    answer = await shop.world.call("PATCH", path, {"lines": [{"id": 9, "disposition": "RESTOC"}]}, status=422)
    assert answer.errors == {"lines.0.id": ["is not a line of this return"]}
    twice = {"lines": [{"id": 2, "disposition": "RESTOC"}, {"id": 2, "disposition": "DISTRUS"}]}
    answer = await shop.world.call("PATCH", path, twice, status=422)
    assert answer.errors == {"lines.1.id": ["is given twice"]}


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [1, 2, 3]),
        ("status=CREAT", [1, 3]),
        ("partner_id=2", [2, 3]),
        ("partner_id=2&status=ANULAT", [2]),
        ("sales_order_id=1", [1]),
        ("external_ref=R3", [3]),
        ("code=RT-000002", [2]),
        ("updated_since=2026-11-20T12:01:30Z", [3]),
    ],
)
async def test_lists_are_filtered_and_count_what_they_filter(shop: Shop, query: str, ids: list[int]) -> None:
    order = await shop.order(status="LIVRAT")
    await bring_back(shop, sales_order_id=order.id, external_ref="R1")
    shop.world.clock.advance(60)
    made = await bring_back(shop, partner_id=2, external_ref="R2")
    await shop.world.send("PATCH", f"{PATH}/{made.id}", {"status": "ANULAT"})
    shop.world.clock.advance(60)
    await bring_back(shop, partner_id=2, external_ref="R3")
    answer = await shop.world.call("GET", f"{PATH}?{query}")
    assert [record["id"] for record in answer.body["data"]] == ids
    assert answer.body["meta"]["total"] == len(ids)


async def test_a_return_is_not_deleted(shop: Shop) -> None:
    await bring_back(shop)
    await shop.world.send("DELETE", f"{PATH}/1")
    assert (await shop.world.send("DELETE", f"{PATH}/1")).status == 405
