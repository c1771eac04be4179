"""Sales orders over HTTP: what is created, refused and changed."""

from typing import Any

import pytest

from tests.support.shop import Shop
from wmsd.maintenance.file_checks.company_checks import examine

CREATED = ["sales_order.created", "stock.updated"]
UPDATED = ["sales_order.updated"]


def body(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "partner_id": 1,
        "warehouse_id": 1,
        "lines": list(lines) or [{"article_id": 1, "quantity": 3}],
        **fields,
    }


NOWHERE = dict.fromkeys(("name", "street", "city", "postal_code", "country", "phone"))
OLDEST = {"lot_number": None, "serials": None}


@pytest.mark.parametrize("path", ["/api/sales-orders", "/api/v2/sales-orders"])
async def test_a_created_order_answers_whole_with_its_address(shop: Shop, path: str) -> None:
    shop.world.clock.advance(1)
    sent = body(
        {"article_code": "A", "quantity": 3},
        {"article_id": 2, "quantity": 0.3},
        {"article_id": 1, "article_code": "A", "quantity": 2, "warehouse_id": 2},
        external_ref="WEB-1",
        client_id=1,
        notes="Ring twice.\nThen wait.",
        requested_date="2026-12-24",
        customer_reference="PO 7",
        ship_to={"name": "Ana Pop", "city": "Cluj", "country": "RO"},
        carrier="Fan",
        tracking_number="F-1",
    )
    events = ["sales_order.created", "stock.updated", "stock.updated", "stock.updated", "stock.low"]
    answer = await shop.world.call("POST", path, sent, status=201, events=events)
    assert answer.headers["Location"] == f"{path}/1"
    assert answer.body == {
        "id": 1,
        "code": "SO-000001",
        "status": "CREAT",
        "partner_id": 1,
        "warehouse_id": 1,
        "client_id": 1,
        "external_ref": "WEB-1",
        "notes": "Ring twice.\nThen wait.",
        "requested_date": "2026-12-24",
        "customer_reference": "PO 7",
        "ship_to": {**NOWHERE, "name": "Ana Pop", "city": "Cluj", "country": "RO"},
        "carrier": "Fan",
        "tracking_number": "F-1",
        "lines": [
            {"id": 1, "article_id": 1, "article_code": "A", "quantity": 3, "warehouse_id": 1, **OLDEST},
            {"id": 2, "article_id": 2, "article_code": "B", "quantity": 0.3, "warehouse_id": 1, **OLDEST},
            {"id": 3, "article_id": 1, "article_code": "A", "quantity": 2, "warehouse_id": 2, **OLDEST},
        ],
        "status_history": [{"status": "CREAT", "at": "2026-11-20T12:00:01.000Z"}],
        "created_at": "2026-11-20T12:00:01.000Z",
        "updated_at": "2026-11-20T12:00:01.000Z",
    }
    assert (await shop.world.call("GET", f"{path}/1")).raw == answer.raw
    assert [await shop.stock(1, 1), await shop.stock(2, 1), await shop.stock(1, 2)] == [
        (20, 3, 17),
        (1.5, 0.3, 1.2),
        (5, 2, 3),
    ]


async def test_the_event_carries_the_record_as_get_shows_it(shop: Shop) -> None:
    before = await shop.world.last_event()
    await shop.world.call("POST", "/api/sales-orders", body(), status=201, events=CREATED)
    (_, created), _ = await shop.world.events_after(before)
    assert created == (await shop.world.call("GET", "/api/sales-orders/1")).body


async def test_tenths_are_exact(shop: Shop) -> None:
    await shop.order({"article_id": 2, "quantity": 0.1}, {"article_id": 2, "quantity": 0.2})
    assert await shop.stock(2) == (1.5, 0.3, 1.2)


async def test_every_error_comes_at_once_with_its_path(shop: Shop) -> None:
    sent = body(
        {"article_code": "NO", "quantity": 1},
        {"article_id": 1, "quantity": 21},
        {"article_id": 1, "quantity": 1, "warehouse_id": 99},
        {"article_id": 1, "article_code": "B", "quantity": 1},
        {"quantity": 1},
        {"article_code": "OLD", "quantity": 1},
        {"article_id": 1, "quantity": 1, "warehouse_id": 3},
        partner_id=99,
        client_id=99,
    )
    answer = await shop.world.call("POST", "/api/sales-orders", sent, status=422)
    assert answer.body["code"] == "INVALID_PARTNER"
    assert answer.errors == {
        "partner_id": ["is not a partner of this company"],
        "client_id": ["is not a client of this company"],
        "lines.0.article_code": ["is not an article of this company"],
        "lines.1.quantity": ["is more than the available stock: 20 available, 21 requested"],
        "lines.2.warehouse_id": ["is not a warehouse of this company"],
        "lines.3.article_code": ["is not the code of article 1"],
        "lines.4.article_id": ["is required unless article_code is given"],
        "lines.5.article_code": ["is an inactive article"],
        "lines.6.warehouse_id": ["is an inactive warehouse"],
    }
    assert await shop.stock() == (20, 0, 20)


@pytest.mark.parametrize(
    ("changed", "code", "errors"),
    [
        ({"partner_id": 99}, "INVALID_PARTNER", {"partner_id": ["is not a partner of this company"]}),
        ({"partner_id": 3}, "INVALID_PARTNER", {"partner_id": ["is an inactive partner"]}),
        ({"warehouse_id": 99}, "INVALID_WAREHOUSE", {"warehouse_id": ["is not a warehouse of this company"]}),
        ({"warehouse_id": 3}, "INVALID_WAREHOUSE", {"warehouse_id": ["is an inactive warehouse"]}),
        (
            {"lines": [{"article_id": 99, "quantity": 1}]},
            "INVALID_ARTICLE",
            {"lines.0.article_id": ["is not an article of this company"]},
        ),
        (
            {"lines": [{"article_id": 1, "quantity": 11}, {"article_code": "A", "quantity": 9.000001}]},
            "INSUFFICIENT_STOCK",
            {
                "lines.0.quantity": ["is more than the available stock: 20 available, 20.000001 requested"],
                "lines.1.quantity": ["is more than the available stock: 20 available, 20.000001 requested"],
            },
        ),
        (
            {"warehouse_id": 2, "lines": [{"article_id": 2, "quantity": 1}]},
            "INSUFFICIENT_STOCK",
            {"lines.0.quantity": ["is more than the available stock: 0 available, 1 requested"]},
        ),
        (
            {"status": "IN_LUCRU"},
            "VALIDATION_FAILED",
            {"status": ["must be CREAT, the first status of every sales order"]},
        ),
        ({"lines": []}, "VALIDATION_FAILED", {"lines": ["must have at least 1 item"]}),
        ({"lines": None}, "VALIDATION_FAILED", {"lines": ["must be an array"]}),
        (
            {"lines": [{"article_id": 1, "quantity": 1}] * 1001},
            "VALIDATION_FAILED",
            {"lines": ["must have at most 1000 items"]},
        ),
        (
            {"lines": [{"article_id": 1, "quantity": 0}, {"article_id": 1, "quantity": 0.0000001}, 5]},
            "VALIDATION_FAILED",
            {
                "lines.0.quantity": ["must be greater than 0"],
                "lines.1.quantity": ["must have at most 6 decimal places"],
                "lines.2": ["must be an object"],
            },
        ),
        (
            {"lines": [{"article_id": 1, "quantity": 1, "price": 5}]},
            "VALIDATION_FAILED",
            {"lines.0.price": ["is an unknown field"]},
        ),
        (
            {"requested_date": "24.12.2026"},
            "VALIDATION_FAILED",
            {"requested_date": ["must be a date such as 2026-11-20"]},
        ),
    ],
)
async def test_an_order_that_is_refused_leaves_nothing(
    shop: Shop, changed: dict[str, Any], code: str, errors: dict[str, Any]
) -> None:
    answer = await shop.world.call("POST", "/api/sales-orders", {**body(), **changed}, status=422)
    assert (answer.body["code"], answer.errors) == (code, errors)
    assert await shop.stock() == (20, 0, 20)
    assert await shop.world.rows("SELECT * FROM sales_orders UNION ALL SELECT * FROM sales_orders") == []
    assert await shop.world.rows("SELECT * FROM reservations") == []


async def test_a_series_has_no_gaps_and_steps_over_codes_given_by_hand(shop: Shop) -> None:
    await shop.order(code="SO-000002")
    codes = []
    for quantity in (1, 99, 1, 1):
        answer = await shop.world.send("POST", "/api/sales-orders", body({"article_id": 1, "quantity": quantity}))
        codes.append(answer.body.get("code"))
    assert codes == ["SO-000001", "INSUFFICIENT_STOCK", "SO-000003", "SO-000004"]


async def test_codes_and_external_refs_are_unique(shop: Shop) -> None:
    await shop.order(code="X", external_ref="R")
    answer = await shop.world.call("POST", "/api/sales-orders", body(code="X", external_ref="R"), status=422)
    assert answer.errors == {
        "code": ["is taken by another sales order"],
        "external_ref": ["is taken by another sales order"],
    }


async def test_what_was_got_can_be_sent_back(shop: Shop) -> None:
    order = await shop.order({"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1})
    path = f"/api/sales-orders/{order.id}"
    assert (await shop.world.call("PUT", path, order.body)).raw == order.raw
    assert (await shop.world.call("PATCH", path, order.body)).raw == order.raw
    assert (await shop.world.call("PATCH", path, {})).raw == order.raw


async def test_changed_lines_move_the_reservations_with_them(shop: Shop) -> None:
    order = await shop.order({"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1})
    kept, _ = order.body["lines"]
    lines = [{"article_id": 1, "quantity": 2, "warehouse_id": 2}, {**kept, "quantity": 20}]
    events = ["sales_order.updated", "stock.updated", "stock.low", "stock.updated", "stock.low", "stock.updated"]
    before = await shop.world.last_event()
    answer = await shop.world.send("PATCH", f"/api/sales-orders/{order.id}", {"lines": lines})
    assert sorted(name for name, _ in await shop.world.events_after(before)) == sorted(events)
    assert [(line["id"], line["quantity"]) for line in answer.body["lines"]] == [(3, 2), (kept["id"], 20)]
    assert [await shop.stock(1, 1), await shop.stock(2, 1), await shop.stock(1, 2)] == [
        (20, 20, 0),
        (1.5, 0, 1.5),
        (5, 2, 3),
    ]


async def test_a_change_that_is_short_of_stock_changes_nothing(shop: Shop) -> None:
    order = await shop.order()
    lines = [{"article_id": 1, "quantity": 21}]
    path = f"/api/sales-orders/{order.id}"
    answer = await shop.world.call("PATCH", path, {"lines": lines, "notes": "x"}, status=422)
    assert answer.errors == {"lines.0.quantity": ["is more than the available stock: 20 available, 21 requested"]}
    assert (await shop.world.call("GET", path)).raw == order.raw
    assert await shop.stock() == (20, 3, 17)


async def test_a_line_without_a_warehouse_is_taken_from_the_orders_and_stays_there(shop: Shop) -> None:
    order = await shop.order({"article_id": 1, "quantity": 3}, {"article_id": 1, "quantity": 1, "warehouse_id": 2})
    path = f"/api/sales-orders/{order.id}"
    moved = await shop.world.call("PATCH", path, {"warehouse_id": 2}, events=UPDATED)
    assert [line["warehouse_id"] for line in moved.body["lines"]] == [1, 2]
    assert (await shop.stock(1, 1), await shop.stock(1, 2)) == ((20, 3, 17), (5, 1, 4))
    lines = [{"article_id": 1, "quantity": 3}]
    anew = await shop.world.send("PATCH", path, {"lines": lines})
    assert [line["warehouse_id"] for line in anew.body["lines"]] == [2]
    assert (await shop.stock(1, 1), await shop.stock(1, 2)) == ((20, 0, 20), (5, 3, 2))


@pytest.mark.parametrize("status", ["CREAT", "IN_LUCRU", "INCARCAT"])
async def test_an_order_that_is_sent_back_with_another_warehouse_keeps_its_goods(shop: Shop, status: str) -> None:
    order = await shop.order(status=status)
    path = f"/api/sales-orders/{order.id}"
    before = await shop.stock()
    answer = await shop.world.call("PUT", path, {**order.body, "warehouse_id": 2}, events=UPDATED)
    assert (answer.body["warehouse_id"], answer.body["lines"]) == (2, order.body["lines"])
    assert (await shop.stock(), await shop.stock(1, 2)) == (before, (5, 0, 5))
    findings = await (await shop.world.database()).read_long(examine)
    assert findings.differences == []


async def test_an_order_can_be_sent_back_when_its_warehouse_is_no_longer_active(shop: Shop) -> None:
    order = await shop.order(status="IN_LUCRU")
    database = await shop.world.database()
    closed = "UPDATE warehouses SET active = 0 WHERE id = 1"  # as earlier versions allowed
    await database.write(lambda tx: tx.execute(closed))
    path = f"/api/sales-orders/{order.id}"
    assert (await shop.world.call("PUT", path, order.body)).raw == order.raw


@pytest.mark.parametrize("status", ["IN_LUCRU", "INCARCAT", "LIVRAT", "ANULAT"])
async def test_lines_are_frozen_outside_creat(shop: Shop, status: str) -> None:
    order = await shop.order(status=status)
    path = f"/api/sales-orders/{order.id}"
    answer = await shop.world.call("PATCH", path, {"lines": [{"article_id": 1, "quantity": 1}]}, status=409)
    assert answer.body["details"]["current"] == status
    assert answer.body["details"]["requested"] is None
    await shop.world.call("PATCH", path, {"lines": order.body["lines"]})
    assert (await shop.world.call("GET", path)).raw == order.raw


@pytest.mark.parametrize("status", ["CREAT", "IN_LUCRU", "INCARCAT"])
async def test_other_fields_change_until_the_order_is_final(shop: Shop, status: str) -> None:
    order = await shop.order(status=status)
    fields = {"notes": "x", "external_ref": "R", "partner_id": 2, "requested_date": "2026-12-24", "code": "MINE"}
    answer = await shop.world.call("PATCH", f"/api/sales-orders/{order.id}", fields, events=UPDATED)
    assert {name: answer.body[name] for name in fields} == fields
    assert answer.body["status"] == status


@pytest.mark.parametrize("status", ["LIVRAT", "ANULAT"])
async def test_a_final_order_is_never_changed(shop: Shop, status: str) -> None:
    order = await shop.order(status=status)
    path = f"/api/sales-orders/{order.id}"
    answer = await shop.world.call("PATCH", path, {"notes": "x"}, status=409)
    assert answer.body["details"] == {"current": status, "requested": None, "allowed": []}
    assert (await shop.world.call("GET", path)).raw == order.raw


async def test_one_request_changes_on_the_side_of_the_move_that_allows_it(shop: Shop) -> None:
    order = await shop.order(status="IN_LUCRU")
    path = f"/api/sales-orders/{order.id}"
    lines = [{"article_id": 1, "quantity": 5}]
    back = await shop.world.send("PATCH", path, {"status": "CREAT", "lines": lines})
    assert (back.body["status"], back.body["lines"][0]["quantity"]) == ("CREAT", 5)
    lines = [{"article_id": 1, "quantity": 6}]
    on = await shop.world.send("PATCH", path, {"status": "IN_LUCRU", "lines": lines})
    assert (on.body["status"], on.body["lines"][0]["quantity"]) == ("IN_LUCRU", 6)
    await shop.world.call(
        "PATCH", path, {"status": "INCARCAT", "lines": [{"article_id": 1, "quantity": 7}]}, status=409
    )
    assert await shop.stock() == (20, 6, 14)


async def test_put_keeps_code_and_status_and_takes_the_default_of_the_rest(shop: Shop) -> None:
    order = await shop.order(status="IN_LUCRU", notes="x", external_ref="R", client_id=1)
    replaced = await shop.world.call("PUT", f"/api/sales-orders/{order.id}", body(), events=UPDATED)
    assert (replaced.body["code"], replaced.body["status"]) == ("SO-000001", "IN_LUCRU")
    assert (replaced.body["notes"], replaced.body["external_ref"], replaced.body["client_id"]) == (
        None,
        None,
        None,
    )


async def test_what_is_no_longer_active_may_stay_in_an_order(shop: Shop) -> None:
    order = await shop.order()
    await shop.world.call("PATCH", "/api/articles/1", {"active": False}, events=["article.updated"])
    path = f"/api/sales-orders/{order.id}"
    lines = [{"article_id": 1, "quantity": 4}]
    await shop.world.call("PATCH", path, {"lines": lines}, events=["sales_order.updated", "stock.updated"])
    answer = await shop.world.call("POST", "/api/sales-orders", body(), status=422)
    assert answer.errors == {"lines.0.article_id": ["is an inactive article"]}


async def test_another_companys_orders_are_not_there(shop: Shop) -> None:
    order = await shop.order()
    other = await shop.world.new_company("OTHER")
    for method, path in (("GET", ""), ("PATCH", ""), ("PATCH", "/status")):
        version = "/v2" if path else ""
        send = None if method == "GET" else {"status": "ANULAT"}
        answer = await shop.world.send(method, f"/api{version}/sales-orders/{order.id}{path}", send, company=other)
        assert (answer.status, answer.body["message"]) == (404, "There is no such sales order.")


async def test_orders_need_the_outbound_module_and_their_ability(shop: Shop) -> None:
    reader = await shop.world.new_token("admin@example.com", ["sales-orders:read"])
    await shop.world.call("GET", "/api/sales-orders", token=reader)
    await shop.world.call("POST", "/api/sales-orders", body(), status=403, token=reader)
    await shop.world.set_module("ACME", "outbound", False)
    await shop.world.call("GET", "/api/sales-orders", status=403)
    await shop.world.call("POST", "/api/v2/sales-orders", body(), status=403)


async def test_a_status_patch_takes_nothing_but_the_status_and_what_is_read_only(shop: Shop) -> None:
    order = await shop.order()
    path = f"/api/v2/sales-orders/{order.id}/status"
    answer = await shop.world.call("PATCH", path, {**order.body, "status": "IN_LUCRU"}, status=422)
    read_only = {"id", "created_at", "updated_at", "status_history"}
    assert set(answer.errors) == set(order.body) - {"status"} - read_only
    sent = {name: order.body[name] for name in read_only}
    await shop.world.call("PATCH", path, {**sent, "status": "IN_LUCRU"}, events=["sales_order.status_changed"])
