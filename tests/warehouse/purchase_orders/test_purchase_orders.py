"""Purchase orders over HTTP: what is created, refused, changed, moved by hand, deleted and listed."""

from typing import Any

import pytest

from tests.support.shop import Shop
from tests.support.world import Answer
from wmsd.warehouse.purchase_orders.rules import STATUSES

PATH = "/api/purchase-orders"
CREATED = ["purchase_order.created"]
UPDATED = ["purchase_order.updated"]
MOVED = ["purchase_order.status_changed"]


def body(*items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "partner_id": 1,
        "warehouse_id": 1,
        "items": list(items) or [{"article_id": 1, "quantity": 3}],
        **fields,
    }


async def order(shop: Shop, *items: dict[str, Any], status: str = "CREAT", **fields: Any) -> Answer:
    """Create an order. PARTIAL and RECEPTIONAT are written by SQL, because only receptions can set these
    statuses.
    """
    answer = await shop.world.call("POST", PATH, body(*items, **fields), status=201, events=CREATED)
    if status != "CREAT":
        database = await shop.world.database()
        await database.write(
            lambda tx: tx.execute("UPDATE purchase_orders SET status = ? WHERE id = ?", (status, answer.id))
        )
    return await shop.world.call("GET", f"{PATH}/{answer.id}")


async def test_a_created_order_answers_whole_with_its_address(shop: Shop) -> None:
    shop.world.clock.advance(1)
    sent = body(
        {"article_code": "A", "quantity": 3},
        {"article_id": 2, "quantity": 0.3},
        external_ref="B-1",
        notes="Ramp 2",
        expected_date="2026-12-24",
    )
    answer = await shop.world.call("POST", PATH, sent, status=201, events=CREATED)
    assert answer.headers["Location"] == f"{PATH}/1"
    assert answer.body == {
        "id": 1,
        "code": "PO-000001",
        "status": "CREAT",
        "partner_id": 1,
        "warehouse_id": 1,
        "external_ref": "B-1",
        "expected_date": "2026-12-24",
        "notes": "Ramp 2",
        "items": [
            {"id": 1, "article_id": 1, "article_code": "A", "quantity": 3, "received_quantity": 0},
            {"id": 2, "article_id": 2, "article_code": "B", "quantity": 0.3, "received_quantity": 0},
        ],
        "status_history": [{"status": "CREAT", "at": "2026-11-20T12:00:01.000Z"}],
        "created_at": "2026-11-20T12:00:01.000Z",
        "updated_at": "2026-11-20T12:00:01.000Z",
    }
    assert (await shop.world.call("GET", f"{PATH}/1")).raw == answer.raw
    ((_, told), *_) = (await shop.world.events_after(0))[-1:]
    assert told == answer.body


async def test_every_error_comes_at_once_with_its_path(shop: Shop) -> None:
    sent = body(
        {"article_code": "NO", "quantity": 1},
        {"article_id": 1, "article_code": "B", "quantity": 1},
        {"quantity": 1},
        {"article_code": "OLD", "quantity": 1},
        partner_id=3,
        warehouse_id=99,
        status="PARTIAL",
    )
    answer = await shop.world.call("POST", PATH, sent, status=422)
    assert answer.body["code"] == "INVALID_PARTNER"
    assert answer.errors == {
        "status": ["must be CREAT, the first status of every purchase order"],
        "partner_id": ["is an inactive partner"],
        "warehouse_id": ["is not a warehouse of this company"],
        "items.0.article_code": ["is not an article of this company"],
        "items.1.article_code": ["is not the code of article 1"],
        "items.2.article_id": ["is required unless article_code is given"],
        "items.3.article_code": ["is an inactive article"],
    }
    assert await shop.world.rows("SELECT * FROM purchase_orders") == []


async def test_codes_and_external_refs_are_unique_among_purchase_orders(shop: Shop) -> None:
    await shop.order(code="X", external_ref="R")
    await order(shop, code="X", external_ref="R")
    answer = await shop.world.call("POST", PATH, body(code="X", external_ref="R"), status=422)
    assert answer.errors == {name: ["is taken by another purchase order"] for name in ("code", "external_ref")}


BY_HAND = {("CREAT", "ANULAT"), ("PARTIAL", "RECEPTIONAT")}


@pytest.mark.parametrize("after", STATUSES)
@pytest.mark.parametrize("before", STATUSES)
async def test_each_of_the_16_moves_by_hand(shop: Shop, before: str, after: str) -> None:
    made = await order(shop, status=before)
    path = f"{PATH}/{made.id}"
    if before == after:
        assert (await shop.world.call("PATCH", path, {"status": after})).raw == made.raw
    elif (before, after) in BY_HAND:
        shop.world.clock.advance(60)
        answer = await shop.world.call("PATCH", path, {"status": after}, events=MOVED)
        assert answer.body["status"] == after
        assert answer.body["status_history"][-1] == {"status": after, "at": "2026-11-20T12:01:00.000Z"}
        (*_, (_, told)) = await shop.world.events_after(0)
        assert told == {
            "id": made.id,
            "code": "PO-000001",
            "status": after,
            "previous_status": before,
            "partner_id": 1,
            "warehouse_id": 1,
        }
    else:
        answer = await shop.world.call("PATCH", path, {"status": after}, status=409)
        allowed = [to for start, to in sorted(BY_HAND) if start == before]
        assert answer.body["details"] == {"current": before, "requested": after, "allowed": allowed}
        assert (await shop.world.call("GET", path)).raw == made.raw
    assert await shop.ledger() == []


async def test_what_was_got_can_be_sent_back(shop: Shop) -> None:
    made = await order(shop, {"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1})
    path = f"{PATH}/{made.id}"
    for method in ("PUT", "PATCH"):
        assert (await shop.world.call(method, path, made.body)).raw == made.raw


async def test_items_that_are_sent_back_keep_their_ids(shop: Shop) -> None:
    made = await order(shop, {"article_id": 1, "quantity": 3}, {"article_id": 2, "quantity": 1})
    _, kept = made.body["items"]
    items = [{"article_id": 1, "quantity": 9}, {**kept, "quantity": 4}]
    answer = await shop.world.call("PATCH", f"{PATH}/{made.id}", {"items": items}, events=UPDATED)
    assert [(item["id"], item["quantity"]) for item in answer.body["items"]] == [(3, 9), (kept["id"], 4)]


@pytest.mark.parametrize("status", ["PARTIAL", "RECEPTIONAT", "ANULAT"])
async def test_items_are_frozen_outside_creat(shop: Shop, status: str) -> None:
    made = await order(shop, status=status)
    path = f"{PATH}/{made.id}"
    answer = await shop.world.call("PATCH", path, {"items": [{"article_id": 1, "quantity": 1}]}, status=409)
    assert answer.body["details"]["current"] == status
    assert (await shop.world.call("GET", path)).raw == made.raw


@pytest.mark.parametrize("status", STATUSES)
async def test_other_fields_change_until_the_order_is_final(shop: Shop, status: str) -> None:
    made = await order(shop, status=status)
    path, fields = f"{PATH}/{made.id}", {"notes": "x", "expected_date": "2026-12-01", "partner_id": 2}
    if status in ("CREAT", "PARTIAL"):
        answer = await shop.world.call("PATCH", path, fields, events=UPDATED)
        assert {name: answer.body[name] for name in fields} == fields
    else:
        await shop.world.call("PATCH", path, fields, status=409)


async def test_a_new_order_can_be_deleted_and_is_gone(shop: Shop) -> None:
    made = await order(shop)
    path = f"{PATH}/{made.id}"
    await shop.world.call("DELETE", path, status=412, headers={"If-Match": '"other"'})
    answer = await shop.world.call("DELETE", path, status=204, headers={"If-Match": made.headers["ETag"]})
    assert answer.raw == b""
    await shop.world.call("GET", path, status=404)
    await shop.world.call("DELETE", path, status=404)
    assert (await shop.world.call("GET", PATH)).body["meta"]["total"] == 0
    assert (await shop.world.call("GET", f"{PATH}?status=CREAT")).body["meta"]["total"] == 0
    assert await shop.world.rows("SELECT * FROM purchase_order_items") == []


async def test_the_id_of_a_deleted_order_is_never_given_again(shop: Shop) -> None:
    made = await order(shop)
    await shop.world.call("DELETE", f"{PATH}/{made.id}", status=204)
    assert (await order(shop)).id == made.id + 1


@pytest.mark.parametrize("status", ["PARTIAL", "RECEPTIONAT", "ANULAT"])
async def test_an_order_that_has_moved_stays(shop: Shop, status: str) -> None:
    made = await order(shop, status=status)
    answer = await shop.world.call("DELETE", f"{PATH}/{made.id}", status=409)
    assert answer.body["code"] == "INVALID_STATUS"
    assert (await shop.world.call("GET", f"{PATH}/{made.id}")).raw == made.raw


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [1, 2, 3, 4]),
        ("status=CREAT", [1, 4]),
        ("status=PARTIAL,ANULAT", [2, 3]),
        ("partner_id=2", [3, 4]),
        ("partner_id=2&status=CREAT", [4]),
        ("external_ref=R3", [3]),
        ("code=PO-000002", [2]),
        ("updated_since=2026-11-20T12:01:30Z", [3, 4]),
    ],
)
async def test_lists_filter(shop: Shop, query: str, ids: list[int]) -> None:
    for number, (status, partner) in enumerate(
        [("CREAT", 1), ("PARTIAL", 1), ("ANULAT", 2), ("CREAT", 2)], start=1
    ):
        await order(shop, status=status, partner_id=partner, external_ref=f"R{number}")
        shop.world.clock.advance(60)
    listed = (await shop.world.call("GET", f"{PATH}?{query}")).body
    assert [found["id"] for found in listed["data"]] == ids
    assert listed["meta"]["total"] == len(ids)


async def test_orders_need_the_inbound_module_and_their_ability(shop: Shop) -> None:
    reader = await shop.world.new_token("admin@example.com", ["purchase-orders:read"])
    await shop.world.call("GET", PATH, token=reader)
    await shop.world.call("POST", PATH, body(), status=403, token=reader)
    await shop.world.set_module("ACME", "inbound", False)
    await shop.world.call("GET", PATH, status=403)
