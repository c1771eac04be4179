"""Plans: the allowed contents, the changes, and what remains of a plan after loading."""

from typing import Any

import pytest

from tests.support.planner import EUR_3, EUR_4, MOVED, PACKED, STOCK, Planner

NOT_HERE = "is not an order of this site"
FOR_1 = {**EUR_4, "order_code": "SO-000001"}
FOR_2 = {**EUR_3, "order_code": "SO-000002"}
VEHICLE: dict[str, Any] = {"vehicle": "B 118 WMS", "driver": "Ana Pop"}


async def orders(planner: Planner, count: int = 2, **fields: Any) -> None:
    for _ in range(count):
        await planner.shop.order({"article_id": 1, "quantity": 1}, status="IN_LUCRU", **fields)


async def test_a_new_transport_and_the_same_again(planner: Planner) -> None:
    await orders(planner)
    planner.world.clock.advance(1)
    made = await planner.plan("SO-000001", "SO-000002", packaging=[EUR_4], **VEHICLE)
    assert made.headers["Location"] == "/api/integrations/etsm/transports/T1"
    assert made.body == {
        "id": 1,
        "transport_ecc": "T1",
        "status": "CREAT",
        **VEHICLE,
        "orders": [
            {"code": f"SO-00000{number}", "status": "IN_LUCRU", "partner_id": 1, "external_ref": None}
            for number in (1, 2)
        ],
        "packaging": [{**EUR_4, "order_code": None}],
        "packaging_returned": [],
        "loaded_at": None,
        "delivered_at": None,
        "created_at": "2026-11-20T12:00:01.000Z",
        "updated_at": "2026-11-20T12:00:01.000Z",
    }
    planner.world.clock.advance(60)
    for codes in (("SO-000001", "SO-000002"), ("SO-000002", "SO-000001")):
        again = await planner.plan(*codes, status=200, packaging=[EUR_4], **VEHICLE)
        assert again.raw == made.raw
        assert "Location" not in again.headers
    for call in ("INCARCAT", "LIVRAT"):
        moved = await planner.send(call)
        again = await planner.plan("SO-000001", "SO-000002", status=200, packaging=[EUR_4], **VEHICLE)
        assert again.raw == moved.raw


async def test_a_client_may_send_back_what_it_got(planner: Planner) -> None:
    await orders(planner)
    made = await planner.plan("SO-000001", packaging=[FOR_1])
    body = {**made.body, "order_codes": ["SO-000001"]}
    assert (await planner.call("POST", "/transports", body)).raw == made.raw


async def test_any_number_has_an_address(planner: Planner) -> None:
    for ecc in ("A/1", "ä 1", "..", "50%", "x" * 64):
        made = await planner.plan(ecc=ecc)
        place = made.headers["Location"].removeprefix("/api/integrations/etsm")
        if ecc != "..":  # a client takes `..` for the parent folder
            assert (await planner.call("GET", place)).raw == made.raw


async def test_a_planner_plans_anew_until_it_is_loaded(planner: Planner) -> None:
    await orders(planner, 3)
    planner.world.clock.advance(1)
    await planner.plan("SO-000001", "SO-000002", packaging=[FOR_1], **VEHICLE)
    planner.world.clock.advance(60)
    anew = (await planner.plan("SO-000003", "SO-000002", status=200, packaging=[FOR_2])).body
    assert [order["code"] for order in anew["orders"]] == ["SO-000003", "SO-000002"]
    assert (anew["vehicle"], anew["driver"], anew["packaging"]) == (None, None, [FOR_2])
    assert (anew["created_at"], anew["updated_at"]) == ("2026-11-20T12:00:01.000Z", "2026-11-20T12:01:01.000Z")
    await planner.plan("SO-000001", ecc="T2")
    await planner.move("INCARCAT", MOVED, MOVED, PACKED, STOCK)
    assert await planner.packaging() == {("EUR", 1): 3}
    await planner.is_right()


async def test_giving_a_plan_up_frees_its_orders(planner: Planner) -> None:
    await orders(planner, 1)
    await planner.plan("SO-000001", packaging=[EUR_4])
    refused = await planner.plan("SO-000001", ecc="T2", status=422)
    assert refused.errors == {"order_codes.0": ["is on the transport T1, which is not delivered yet"]}
    given_up = await planner.plan(status=200)
    assert (given_up.body["orders"], given_up.body["packaging"]) == ([], [])
    await planner.plan("SO-000001", ecc="T2")


async def test_every_order_that_cannot_be_on_it_is_named_at_once(planner: Planner) -> None:
    shop = planner.shop
    for status in ("CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT", "ANULAT"):
        await shop.order({"article_id": 1, "quantity": 1}, status=status)
    await shop.order({"article_id": 1, "quantity": 1}, warehouse_id=2)
    await planner.plan("SO-000002", ecc="T0")
    before = await planner.everything()
    codes = [f"SO-00000{number}" for number in range(1, 8)]
    refused = await planner.plan(*codes, "SO-000001", status=422, packaging=[{**EUR_4, "order_code": "SO-9"}])
    assert refused.errors == {
        "order_codes.1": ["is on the transport T0, which is not delivered yet"],
        "order_codes.3": ["is LIVRAT: an order with this status cannot be put on a transport"],
        "order_codes.4": ["is ANULAT: an order with this status cannot be put on a transport"],
        "order_codes.5": [NOT_HERE],
        "order_codes.6": [NOT_HERE],
        "order_codes.7": ["is given twice"],
        "packaging.0.order_code": ["is not an order of this transport"],
    }
    assert await planner.everything() == before
    await planner.plan("SO-000001", "SO-000003")


async def test_whose_packaging_it_is_must_be_clear(planner: Planner) -> None:
    await orders(planner, 1)
    await orders(planner, 1, partner_id=2)
    codes = ("SO-000001", "SO-000002")
    unknown = {"packaging_type_code": "BOX", "quantity": 1}
    refused = await planner.plan(*codes, status=422, packaging=[FOR_1, EUR_4, {**unknown, **FOR_2, **unknown}])
    assert refused.errors == {
        "packaging.1.order_code": ["is required: the orders of this transport belong to several partners"],
        "packaging.2.packaging_type_code": ["is not a packaging type of this company"],
    }
    refused = await planner.plan(status=422, packaging=[EUR_4])
    assert refused.errors == {
        "packaging": ["must be empty if the transport has no orders: add orders, or leave the packaging out"]
    }
    await planner.plan(*codes, packaging=[FOR_1, FOR_2])
    await planner.move("INCARCAT", MOVED, MOVED, PACKED, PACKED, STOCK)
    assert await planner.packaging() == {("EUR", 1): 4, ("EUR", 2): 3}
    for entry, path, sentence in (
        (EUR_3, "order_code", "is required: the orders of this transport belong to several partners"),
        ({**EUR_3, "order_code": "SO-000003"}, "order_code", "is not an order of this transport"),
        ({**FOR_2, **unknown}, "packaging_type_code", "is not a packaging type of this company"),
    ):
        before = await planner.everything()
        refused = await planner.move("LIVRAT", status=422, packaging_returned=[FOR_1, entry])
        assert refused.errors == {f"packaging_returned.1.{path}": [sentence]}
        assert await planner.everything() == before
    await planner.move("LIVRAT", MOVED, MOVED, PACKED, packaging_returned=[FOR_2])
    assert await planner.packaging() == {("EUR", 1): 4, ("EUR", 2): 0}
    await planner.is_right()


async def test_a_partner_that_changed_since_the_plan(planner: Planner) -> None:
    await orders(planner)
    await planner.plan("SO-000001", "SO-000002", packaging=[EUR_4])
    await planner.world.send("PATCH", "/api/sales-orders/2", {"partner_id": 2})
    before = await planner.everything()
    refused = await planner.move("INCARCAT", status=422)
    assert list(refused.errors) == ["packaging.0.order_code"]
    assert await planner.everything() == before
    await planner.plan("SO-000001", "SO-000002", status=200, packaging=[FOR_2])
    await planner.move("INCARCAT", MOVED, MOVED, PACKED, STOCK)
    assert await planner.packaging() == {("EUR", 2): 3}


async def test_a_balance_that_cannot_take_it(planner: Planner) -> None:
    await orders(planner)
    most = {"packaging_type_code": "EUR", "quantity": 999999999.999999}
    await planner.plan("SO-000001", "SO-000002", packaging=[most, EUR_4])
    before = await planner.everything()
    refused = await planner.move("INCARCAT", status=422)
    assert list(refused.errors) == ["packaging.1.quantity"]
    assert await planner.everything() == before


async def test_a_loaded_plan_is_not_changed(planner: Planner) -> None:
    await orders(planner, 3)
    codes = ("SO-000001", "SO-000002")
    await planner.plan(*codes, packaging=[FOR_1], **VEHICLE)
    for status in ("INCARCAT", "LIVRAT"):
        await planner.send(status)
        before = await planner.everything()
        for changed, errors in (
            ({"vehicle": "B 1"}, {"vehicle": ["cannot be changed after loading"]}),
            ({"driver": None}, {"driver": ["cannot be changed after loading"]}),
            (
                {"packaging": []},
                {"packaging": ["must be exactly the packaging that was loaded with the remaining orders"]},
            ),
            (
                {"order_codes": ["SO-000001"]},
                {"order_codes": [f"must also contain SO-000002, because the status of this order is {status}"]},
            ),
            (
                {"order_codes": [*codes, "SO-000003"]},
                {"order_codes.2": ["was not loaded with this transport"]},
            ),
            ({"order_codes": [*codes, "SO-000002"]}, {"order_codes.2": ["is given twice"]}),
        ):
            body = {"transport_ecc": "T1", "order_codes": codes, "packaging": [FOR_1], **VEHICLE, **changed}
            refused = await planner.call("POST", "/transports", body, status=409)
            assert refused.body["code"] == "INVALID_STATUS"
            assert refused.body["details"]["current"] == status
            assert refused.errors == errors
        assert await planner.everything() == before


async def test_orders_that_were_taken_off_are_left_out_with_their_packaging(planner: Planner) -> None:
    await orders(planner, 3)
    await planner.plan("SO-000001", "SO-000002", "SO-000003", packaging=[EUR_4, FOR_2])
    await planner.move("INCARCAT", *[MOVED] * 3, PACKED, PACKED, STOCK)
    await planner.by_hand(2, "IN_LUCRU")
    await planner.by_hand(3, "IN_LUCRU", "ANULAT")
    refused = await planner.move("LIVRAT", status=409)
    assert refused.errors == {
        "orders.1": [
            "SO-000002 is IN_LUCRU, because it was unloaded: load it again, or leave it out of the transport",
        ],
        "orders.2": ["SO-000003 is ANULAT: leave it out of the transport"],
    }
    refused = await planner.plan("SO-000002", ecc="T2", status=422)
    left = await planner.plan("SO-000001", status=200, packaging=[EUR_4], events=[PACKED])
    assert [order["code"] for order in left.body["orders"]] == ["SO-000001"]
    assert left.body["status"] == "INCARCAT"
    assert await planner.packaging() == {("EUR", 1): 4}
    await planner.plan("SO-000001", status=200, packaging=[EUR_4])
    await planner.is_right()
    await planner.plan("SO-000002", ecc="T2")
    await planner.move("LIVRAT", MOVED)
    await planner.move("LIVRAT", MOVED, MOVED, STOCK, ecc="T2")
    await planner.is_right()


async def test_a_transport_from_which_all_was_taken_off_is_planned_again(planner: Planner) -> None:
    await orders(planner, 1)
    await planner.plan("SO-000001", packaging=[EUR_4])
    await planner.move("INCARCAT", MOVED, PACKED, STOCK)
    await planner.by_hand(1, "IN_LUCRU")
    await planner.plan(status=200, events=[PACKED])
    assert await planner.packaging() == {("EUR", 1): 0}
    empty = await planner.shown()
    assert (empty["status"], empty["loaded_at"], empty["packaging"]) == ("CREAT", None, [])
    await planner.is_right()
    await planner.plan("SO-000001", status=200, packaging=[EUR_3])
    await planner.move("INCARCAT", MOVED, PACKED, STOCK)
    assert await planner.packaging() == {("EUR", 1): 3}
    await planner.is_right()


async def test_what_is_ready_to_load(planner: Planner) -> None:
    shop = planner.shop
    for status in ("CREAT", "IN_LUCRU", "IN_LUCRU", "IN_LUCRU", "INCARCAT"):
        await shop.order({"article_id": 1, "quantity": 1}, status=status)
    await shop.order({"article_id": 1, "quantity": 1}, warehouse_id=2, status="IN_LUCRU")
    both = [{"article_id": 1, "quantity": 1, "warehouse_id": warehouse} for warehouse in (1, 2)]
    await shop.order(*both, status="IN_LUCRU")
    await planner.plan("SO-000003", "SO-000005")
    listed = (await planner.call("GET", "/orders")).body
    assert [order["code"] for order in listed["data"]] == [f"SO-00000{number}" for number in (2, 3, 4, 7)]
    assert listed["next_cursor"] is None
    assert [order["transport_ecc"] for order in listed["data"]] == [None, "T1", None, None]
    assert (listed["data"][0]["partner_code"], listed["data"][0]["partner_name"]) == ("P1", "First")
    assert [line["warehouse_id"] for line in listed["data"][3]["lines"]] == [1, 2]
    page = (await planner.call("GET", "/orders?status=IN_LUCRU,INCARCAT&per_page=3")).body
    rest = await planner.call("GET", f"/orders?status=IN_LUCRU,INCARCAT&cursor={page['next_cursor']}")
    codes = [order["code"] for order in (*page["data"], *rest.body["data"])]
    assert codes == [f"SO-00000{number}" for number in (2, 3, 4, 5, 7)]
    await planner.call("GET", f"/orders?cursor={page['next_cursor']}", status=422)


async def test_an_order_with_goods_of_two_warehouses_is_loaded_as_a_whole(planner: Planner) -> None:
    both = [{"article_id": 1, "quantity": 1, "warehouse_id": warehouse} for warehouse in (1, 2)]
    await planner.shop.order(*both, status="IN_LUCRU")
    await planner.plan("SO-000001")
    await planner.move("INCARCAT", MOVED, STOCK, STOCK)
    assert (await planner.shop.stock(), await planner.shop.stock(warehouse=2)) == ((19, 0, 19), (4, 0, 4))


BAD: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
    ({"transport_ecc": ""}, {"transport_ecc": ["must have at least 1 character"]}),
    ({"transport_ecc": "x" * 65}, {"transport_ecc": ["must have at most 64 characters"]}),
    ({"transport_ecc": None}, {"transport_ecc": ["must be a string"]}),
    ({"transport_ecc": "a\tb"}, {"transport_ecc": ["must not contain control characters"]}),
    ({"order_codes": "SO-000001"}, {"order_codes": ["must be an array"]}),
    ({"order_codes": None}, {"order_codes": ["must be an array"]}),
    ({"order_codes": [1]}, {"order_codes.0": ["must be a string"]}),
    ({"order_codes": [""]}, {"order_codes.0": ["must have at least 1 character"]}),
    ({"order_codes": ["A"] * 201}, {"order_codes": ["must have at most 200 items"]}),
    ({"vehicle": "x" * 65}, {"vehicle": ["must have at most 64 characters"]}),
    ({"driver": 5}, {"driver": ["must be a string"]}),
    ({"packaging": None}, {"packaging": ["must be an array"]}),
    ({"packaging": [EUR_4] * 101}, {"packaging": ["must have at most 100 items"]}),
    ({"packaging": [{**EUR_4, "quantity": 0}]}, {"packaging.0.quantity": ["must be greater than 0"]}),
    ({"packaging": [{"quantity": 1}]}, {"packaging.0.packaging_type_code": ["is required"]}),
    (
        {"packaging": [{**EUR_4, "packaging_type_id": 1}]},
        {"packaging.0.packaging_type_id": ["is an unknown field; did you mean packaging_type_code?"]},
    ),
    ({"colour": "red"}, {"colour": ["is an unknown field"]}),
]


@pytest.mark.parametrize(("fields", "errors"), BAD, ids=lambda each: str(each)[:40])
async def test_plans_that_are_none(planner: Planner, fields: dict[str, Any], errors: Any) -> None:
    await orders(planner, 1)
    body = {"transport_ecc": "T1", "order_codes": ["SO-000001"], **fields}
    assert (await planner.call("POST", "/transports", body, status=422)).errors == errors
    await planner.call("GET", "/transports/T1", status=404)


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({}, {"status": ["is required"]}),
        ({"status": "CREAT"}, {"status": ["must be 'INCARCAT' or 'LIVRAT'"]}),
        ({"status": "ANULAT"}, {"status": ["must be 'INCARCAT' or 'LIVRAT'"]}),
        (
            {"status": "INCARCAT", "occurred_at": "2026-11-20T12:00:00"},
            {"occurred_at": ["must have an offset from UTC, such as Z or +02:00"]},
        ),
        (
            {"status": "INCARCAT", "occurred_at": "yesterday"},
            {"occurred_at": ["must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z"]},
        ),
        (
            {"status": "INCARCAT", "occurred_at": 5},
            {"occurred_at": ["must be an ISO 8601 date and time in a string"]},
        ),
        (
            {"status": "INCARCAT", "packaging_returned": [EUR_3], "occurred_at": "2027-01-01T00:00:00Z"},
            {
                "occurred_at": ["is in the future"],
                "packaging_returned": ["is allowed only together with the status LIVRAT"],
            },
        ),
        (
            {"status": "LIVRAT", "packaging": []},
            {"packaging": ["is an unknown field; did you mean packaging_returned?"]},
        ),
        (
            {"status": "LIVRAT", "packaging_returned": [{**EUR_3, "quantity": -1}]},
            {"packaging_returned.0.quantity": ["must be greater than 0"]},
        ),
    ],
    ids=lambda each: str(each)[:40],
)
async def test_calls_that_are_none(planner: Planner, fields: dict[str, Any], errors: Any) -> None:
    await orders(planner, 1)
    await planner.plan("SO-000001")
    before = await planner.everything()
    assert (await planner.call("POST", "/transports/T1/status", fields, status=422)).errors == errors
    assert await planner.everything() == before


@pytest.mark.parametrize("query", ["status=NONE", "page=1", "per_page=501", "cursor=x", "warehouse_id=2"])
async def test_queries_that_are_none(planner: Planner, query: str) -> None:
    refused = await planner.call("GET", f"/orders?{query}", status=422)
    assert list(refused.errors) == [query.partition("=")[0]]
