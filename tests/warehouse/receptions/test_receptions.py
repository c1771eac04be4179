"""Receptions over HTTP: what is created, refused, changed, deleted and listed."""

from typing import Any

import pytest

from tests.support.dock import BOX, LENIENT, LOT, SERIAL, THIRD, Dock, arrival
from tests.support.shop import Shop
from wmsd.warehouse.receptions.rules import STATUSES

PATH = "/api/receptions"
CREATED = ["reception.created"]
ITEM = {"quantity_um3pl": 1}


async def test_a_draft_answers_whole_with_its_address_and_moves_nothing(dock: Dock) -> None:
    order = await dock.purchase((1, 10), (BOX, 24))
    dock.world.clock.advance(1)
    sent = arrival(
        order,
        {"po_item_id": 1, "quantity_um3pl": 4.5, "lot_number": "L-1", "serial_data": None},
        {"po_item_id": 2, "quantity_um3pl": 2},
        status="CREAT",
        transport_ecc="ECC-77",
        external_ref="IN-1",
        notes="Ramp 2",
    )
    answer = await dock.world.call("POST", PATH, sent, status=201, events=CREATED)
    assert answer.headers["Location"] == f"{PATH}/1"
    assert answer.body == {
        "id": 1,
        "code": "RC-000001",
        "status": "CREAT",
        "purchase_order_id": order.id,
        "warehouse_id": 1,
        "transport_ecc": "ECC-77",
        "external_ref": "IN-1",
        "notes": "Ramp 2",
        "selected_items": [
            {
                "id": 1,
                "po_item_id": 1,
                "article_id": 1,
                "article_code": "A",
                "quantity_um3pl": 4.5,
                "quantity": None,
                "lot_number": "L-1",
                "serial_data": None,
            },
            {
                "id": 2,
                "po_item_id": 2,
                "article_id": BOX,
                "article_code": "BOX",
                "quantity_um3pl": 2,
                "quantity": None,
                "lot_number": None,
                "serial_data": None,
            },
        ],
        "status_history": [{"status": "CREAT", "at": "2026-11-20T12:00:01.000Z"}],
        "created_at": "2026-11-20T12:00:01.000Z",
        "updated_at": "2026-11-20T12:00:01.000Z",
    }
    assert (await dock.world.call("GET", f"{PATH}/1")).raw == answer.raw
    assert (await dock.stock(), await dock.ledger()) == ((20, 0, 20), [])
    assert await dock.purchase_order(order) == ("CREAT", [0, 0])


async def test_what_get_shows_can_be_sent_back(dock: Dock) -> None:
    draft = await dock.receive(await dock.purchase((1, 5)), status="CREAT")
    for method in ("PUT", "PATCH"):
        answer = await dock.world.call(method, f"{PATH}/1", draft.body)
        assert answer.raw == draft.raw


@pytest.mark.parametrize(
    ("item", "path", "sentence"),
    [
        ({"po_item_id": 99}, "po_item_id", "is not an item of purchase order PO-000002"),
        ({"po_item_id": 1}, "po_item_id", "is not an item of purchase order PO-000002"),
        (
            {"po_item_id": 2, "quantity_um3pl": 10.000001},
            "quantity_um3pl",
            "is more than the order still allows: you entered 10.000001, and 10 of 10 can still be received",
        ),
        ({"po_item_id": 3}, "lot_number", "is required: the article is tracked by lots"),
        ({"po_item_id": 3, "lot_number": ""}, "lot_number", "is required: the article is tracked by lots"),
        (
            {"po_item_id": 4},
            "serial_data",
            "must have one serial for each unit (units arrived: 1, serials given: 0)",
        ),
        (
            {"po_item_id": 4, "quantity_um3pl": 1.5, "serial_data": ["S1"]},
            "serial_data",
            "must have one serial for each unit (units arrived: 1.5, serials given: 1)",
        ),
        (
            {"po_item_id": 4, "quantity_um3pl": 2, "serial_data": ["S1", "S1"]},
            "serial_data.1",
            "is given twice",
        ),
        (
            {"po_item_id": 2, "serial_data": ["S1"]},
            "serial_data",
            "must be empty: the article is not tracked by serials",
        ),
        (
            {"po_item_id": 5, "quantity_um3pl": 0.1},
            "quantity_um3pl",
            "is not possible: the quantity times 0.333333 (the um3pl_factor of THIRD) has more than 6 decimal "
            "places",
        ),
        (
            {"po_item_id": 6, "quantity_um3pl": 999999999},
            "quantity_um3pl",
            "is too large: the quantity times 12 (the um3pl_factor of BOX) must be at most 999999999.999999",
        ),
        ({"po_item_id": 2, "quantity_um3pl": 0}, "quantity_um3pl", "must be greater than 0"),
        ({"po_item_id": 2, "quantity_um3pl": "1"}, "quantity_um3pl", "must be a number"),
        ({"po_item_id": 2, "serial_data": "S1"}, "serial_data", "must be an array"),
        ({"po_item_id": 2, "colour": "red"}, "colour", "is an unknown field"),
    ],
)
@pytest.mark.parametrize("status", ["CREAT", "FINALIZAT"])
async def test_an_item_that_cannot_be_received_is_refused(
    dock: Dock, item: dict[str, Any], path: str, sentence: str, status: str
) -> None:
    await dock.purchase((1, 10))
    order = await dock.purchase((1, 10), (LOT, 10), (SERIAL, 10), (THIRD, 10), (BOX, 10))
    sent = arrival(order, {**ITEM, **item}, status=status)
    answer = await dock.world.call("POST", PATH, sent, status=422)
    assert answer.body["code"] == "VALIDATION_FAILED"
    assert answer.errors == {f"selected_items.0.{path}": [sentence]}
    assert await dock.world.rows("SELECT * FROM receptions") == []


async def test_a_serial_of_another_article_in_the_same_request_is_no_repetition(dock: Dock) -> None:
    await dock.world.import_csv("articles", "code,name,track_serial\nOTHER,Other,true\n")
    order = await dock.purchase((SERIAL, 1), (9, 1))
    items = [{"po_item_id": number, "quantity_um3pl": 1, "serial_data": ["S1"]} for number in (1, 2)]
    await dock.receive(order, *items)
    assert (await dock.serials(SERIAL), await dock.serials(9)) == (["S1"], ["S1"])


async def test_a_factor_is_multiplied_exactly_or_refused(dock: Dock) -> None:
    order = await dock.purchase((THIRD, 1), (BOX, 24))
    items: list[dict[str, float]] = [
        {"po_item_id": 1, "quantity_um3pl": 3},
        {"po_item_id": 2, "quantity_um3pl": 1.25},
    ]
    answer = await dock.receive(order, *items)
    assert [item["quantity"] for item in answer.body["selected_items"]] == [0.999999, 15]
    assert await dock.purchase_order(order) == ("PARTIAL", [0.999999, 15])


@pytest.mark.parametrize(
    ("fields", "code", "errors"),
    [
        (
            {"purchase_order_id": 99},
            "VALIDATION_FAILED",
            {"purchase_order_id": ["is not a purchase order of this company"]},
        ),
        (
            {"warehouse_id": 3},
            "INVALID_WAREHOUSE",
            {"warehouse_id": ["is an inactive warehouse"]},
        ),
        ({"warehouse_id": 9}, "INVALID_WAREHOUSE", {"warehouse_id": ["is not a warehouse of this company"]}),
        ({"code": "TAKEN"}, "VALIDATION_FAILED", {"code": ["is taken by another reception"]}),
        ({"external_ref": "TAKEN"}, "EXTERNAL_REF_TAKEN", {"external_ref": ["is taken by another reception"]}),
        (
            {"status": "IN_LUCRU"},
            "VALIDATION_FAILED",
            {"status": ["must be CREAT, or FINALIZAT to post the reception immediately"]},
        ),
        ({"selected_items": []}, "VALIDATION_FAILED", {"selected_items": ["must have at least 1 item"]}),
    ],
)
async def test_a_reception_that_is_refused_leaves_nothing(
    dock: Dock, fields: dict[str, Any], code: str, errors: dict[str, list[str]]
) -> None:
    order = await dock.purchase((1, 10))
    await dock.receive(order, ITEM | {"po_item_id": 1}, status="CREAT", code="TAKEN", external_ref="TAKEN")
    answer = await dock.world.call("POST", PATH, {**arrival(order), **fields}, status=422)
    assert (answer.body["code"], answer.errors) == (code, errors)
    assert (await dock.receive(order, status="CREAT")).body["code"] == "RC-000001"


async def test_every_error_comes_at_once(dock: Dock) -> None:
    order = await dock.purchase((LOT, 1), (SERIAL, 2), (1, 3))
    sent = arrival(
        order,
        {"po_item_id": 1, "quantity_um3pl": 2},
        {"po_item_id": 2, "quantity_um3pl": 2, "serial_data": ["X"]},
        {"po_item_id": 9, "quantity_um3pl": 1},
        warehouse_id=9,
        status="ANULAT",
    )
    answer = await dock.world.call("POST", PATH, sent, status=422)
    assert answer.body["code"] == "INVALID_WAREHOUSE"
    assert set(answer.errors) == {
        "status",
        "warehouse_id",
        "selected_items.0.lot_number",
        "selected_items.0.quantity_um3pl",
        "selected_items.1.serial_data",
        "selected_items.2.po_item_id",
    }


async def test_put_replaces_and_patch_changes_a_draft(dock: Dock) -> None:
    order = await dock.purchase((1, 10), (LENIENT, 10))
    draft = await dock.receive(order, status="CREAT", transport_ecc="T1", notes="n")
    kept = draft.body["selected_items"][1]
    sent = arrival(order, kept | {"quantity_um3pl": 11}, {"po_item_id": 1, "quantity_um3pl": 2})
    del sent["status"]
    changed = await dock.world.call("PUT", f"{PATH}/1", sent, events=["reception.updated"])
    shown = [(item["id"], item["quantity_um3pl"]) for item in changed.body["selected_items"]]
    assert shown == [(2, 11), (3, 2)]
    assert (changed.body["transport_ecc"], changed.body["notes"], changed.body["code"]) == (
        None,
        None,
        "RC-000001",
    )
    await dock.world.call("PATCH", f"{PATH}/1", {"notes": "later"}, events=["reception.updated"])
    await dock.world.call("PATCH", f"{PATH}/1", {"status": "IN_LUCRU"}, events=["reception.status_changed"])
    changed = await dock.world.call("PATCH", f"{PATH}/1", {"selected_items": [kept]}, events=["reception.updated"])
    assert [item["id"] for item in changed.body["selected_items"]] == [2]
    assert await dock.ledger() == []


async def test_items_that_are_sent_again_without_their_ids_are_the_same_items(dock: Dock) -> None:
    order = await dock.purchase((1, 10))
    draft = await dock.receive(order, status="CREAT")
    sent = arrival(order, status="CREAT", notes="new")
    answer = await dock.world.call("PUT", f"{PATH}/1", sent, events=["reception.updated"])
    assert answer.body["selected_items"] == draft.body["selected_items"]


async def test_a_reception_stays_with_its_order(dock: Dock) -> None:
    order, other = await dock.purchase((1, 10)), await dock.purchase((1, 10))
    await dock.receive(order, status="CREAT")
    answer = await dock.world.call("PATCH", f"{PATH}/1", {"purchase_order_id": other.id}, status=422)
    assert answer.errors == {
        "purchase_order_id": ["cannot be changed: create a new reception for the other order"]
    }


@pytest.mark.parametrize("status", STATUSES)
async def test_only_a_new_reception_can_be_deleted(dock: Dock, status: str) -> None:
    order = await dock.purchase((1, 10))
    draft = await dock.receive(order, status="CREAT")
    if status != "CREAT":
        await dock.world.send("PATCH", f"{PATH}/{draft.id}", {"status": status})
        answer = await dock.world.call("DELETE", f"{PATH}/{draft.id}", status=409)
        assert answer.body["code"] == "INVALID_STATUS"
        assert answer.body["details"]["current"] == status
        return
    await dock.world.call("DELETE", f"{PATH}/{draft.id}", status=204)
    await dock.world.call("GET", f"{PATH}/{draft.id}", status=404)
    await dock.world.call("DELETE", f"{PATH}/{draft.id}", status=404)
    again = await dock.receive(order, status="CREAT")
    assert (again.id, again.body["selected_items"][0]["id"]) == (2, 2)


async def test_an_order_with_receptions_cannot_be_deleted_nor_lose_the_items_that_they_name(dock: Dock) -> None:
    order = await dock.purchase((1, 10), (2, 1))
    first, second = order.body["items"]
    await dock.receive(order, {"po_item_id": first["id"], "quantity_um3pl": 1}, status="CREAT")
    path = f"/api/purchase-orders/{order.id}"
    answer = await dock.world.call("DELETE", path, status=409)
    assert answer.body["message"] == (
        "This purchase order cannot be deleted, because reception "
        "RC-000001 refers to it. Cancel the order instead."
    )
    another = {"id": first["id"], "article_id": 2, "quantity": 10}
    for items in ([second], [another], [second, another]):
        answer = await dock.world.call("PATCH", path, {"items": items}, status=409)
        sentence = (
            "Your request removes or changes an item that reception RC-000001 uses. Send this item with its id "
            "and its present article."
        )
        assert answer.body["message"] == sentence
    more = {"items": [first | {"quantity": 12}]}
    await dock.world.call("PATCH", path, more, events=["purchase_order.updated"])
    await dock.world.call("DELETE", f"{PATH}/1", status=204)
    await dock.world.call("DELETE", path, status=204)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [1, 2, 3, 4]),
        ("status=CREAT", [1, 4]),
        ("status=CREAT,FINALIZAT", [1, 3, 4]),
        ("purchase_order_id=1", [1, 2]),
        ("purchase_order_id=1&status=ANULAT", [2]),
        ("purchase_order_id=9", []),
        ("external_ref=R3", [3]),
        ("code=RC-000002", [2]),
        ("updated_since=2026-11-20T12:02:30Z", [4]),
        ("per_page=2&page=2", [3, 4]),
    ],
)
async def test_lists_are_filtered_and_count_what_they_filter(dock: Dock, query: str, ids: list[int]) -> None:
    orders = [await dock.purchase((1, 10)), await dock.purchase((1, 10))]
    for number, status in enumerate(["CREAT", "ANULAT", "FINALIZAT", "CREAT"]):
        item = {"po_item_id": number // 2 + 1, "quantity_um3pl": 1}
        made = await dock.receive(orders[number // 2], item, status="CREAT", external_ref=f"R{number + 1}")
        if status != "CREAT":
            await dock.world.send("PATCH", f"{PATH}/{made.id}", {"status": status})
        dock.world.clock.advance(60)
    answer = await dock.world.call("GET", f"{PATH}?{query}")
    assert [record["id"] for record in answer.body["data"]] == ids
    assert answer.body["meta"]["total"] == (4 if "per_page" in query else len(ids))


@pytest.mark.parametrize("query", ["colour=red", "status=GONE", "purchase_order_id=x", "page=0"])
async def test_a_bad_filter_is_named(dock: Dock, query: str) -> None:
    answer = await dock.world.call("GET", f"{PATH}?{query}", status=422)
    assert list(answer.errors) == [query.partition("=")[0]]


async def test_receptions_need_their_ability_and_the_inbound_module(shop: Shop) -> None:
    orders_only = await shop.world.new_token("admin@example.com", ["purchase-orders:write"])
    await shop.world.call("GET", PATH, status=403, token=orders_only)
    await shop.world.call("POST", PATH, {}, status=403, token=orders_only)
    reader = await shop.world.new_token("admin@example.com", ["receptions:read"])
    await shop.world.call("GET", PATH, token=reader)
    await shop.world.call("DELETE", f"{PATH}/1", status=403, token=reader)
    await shop.world.set_module("ACME", "inbound", False)
    await shop.world.call("GET", PATH, status=403)


async def test_no_tolerance_receives_more_than_a_quantity_can_be(dock: Dock) -> None:
    order = await dock.purchase((LENIENT, 999_999_999))
    (item,) = order.body["items"]
    await dock.receive(order, {"po_item_id": item["id"], "quantity_um3pl": 999_999_998})
    await dock.world.import_csv("stock", "article_code,warehouse_code,quantity\nLENIENT,MAIN,0\n")
    more = arrival(order, {"po_item_id": item["id"], "quantity_um3pl": 2})
    answer = await dock.world.call("POST", "/api/receptions", more, status=422)
    still = "1.999999 of 999999999.999999 can still be received"
    sentence = f"is more than the order still allows: you entered 2, and {still}"
    assert answer.errors == {"selected_items.0.quantity_um3pl": [sentence]}
    record = (await dock.world.call("GET", f"/api/purchase-orders/{order.id}")).body
    await dock.world.call("PUT", f"/api/purchase-orders/{order.id}", record)
