"""Tests of Idempotency-Key: a repeated request is carried out once, and its answer is the same byte for byte."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from tests.support.shop import Shop, open_shop
from tests.support.world import UNLIMITED, open_world
from wmsd.dispatch.idempotency import forget_old, read

ORDER = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 3}]}
KEY = {"Idempotency-Key": "1c2f4a"}
WEBHOOK = {"name": "ERP", "url": "https://erp.example.com/", "events": ["*"], "secret": "0123456789abcdef" * 2}


WRITES = {
    "POST article": ("POST", "/api/articles", {"code": "NEW", "name": "New"}),
    "PUT article": ("PUT", "/api/articles/2", {"code": "B", "name": "Changed"}),
    "PATCH article": ("PATCH", "/api/articles/2", {"name": "Changed"}),
    "PATCH article by code": ("PATCH", "/api/articles/by-code/B", {"name": "Changed"}),
    "POST order": ("POST", "/api/sales-orders", ORDER),
    "POST order, v2": ("POST", "/api/v2/sales-orders", ORDER),
    "PUT order": ("PUT", "/api/sales-orders/1", {**ORDER, "notes": "x"}),
    "PATCH order": ("PATCH", "/api/sales-orders/1", {"notes": "x"}),
    "PATCH status": ("PATCH", "/api/v2/sales-orders/1/status", {"status": "IN_LUCRU"}),
}


@pytest.mark.parametrize("write", WRITES)
async def test_every_writing_operation_is_replayed_byte_for_byte(shop: Shop, write: str) -> None:
    await shop.order()
    method, path, body = WRITES[write]
    first = await shop.world.send(method, path, body, headers=KEY)
    assert first.status in (200, 201)
    assert "Idempotent-Replayed" not in first.headers
    shop.world.clock.advance(60)
    again = await shop.world.call(method, path, body, status=first.status, headers=KEY)
    assert again.raw == first.raw
    assert again.headers["Idempotent-Replayed"] == "true"
    assert [again.headers.get(name) for name in ("Location", "ETag")] == [
        first.headers.get(name) for name in ("Location", "ETag")
    ]


async def test_a_replay_is_the_first_answer_although_the_record_has_changed_since(shop: Shop) -> None:
    first = await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    await shop.world.send("PATCH", "/api/sales-orders/1", {"status": "ANULAT"})
    again = await shop.world.call("POST", "/api/sales-orders", ORDER, status=201, headers=KEY)
    assert again.raw == first.raw
    assert await shop.stock() == (20, 0, 20)


async def test_the_same_body_is_the_same_however_it_is_written(shop: Shop) -> None:
    first = await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    raw = b'{ "lines": [{"quantity": 3, "article_id": 1}], "warehouse_id": 1, "partner_id": 1 }'
    quoted = {"Idempotency-Key": '"1c2f4a"'}
    again = await shop.world.call("POST", "/api/sales-orders", raw=raw, status=201, headers=quoted)
    assert again.raw == first.raw


async def test_another_body_with_the_same_key_is_refused(shop: Shop) -> None:
    first = await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    answer = await shop.world.call("POST", "/api/sales-orders", {**ORDER, "notes": "x"}, status=422, headers=KEY)
    assert answer.body["code"] == "IDEMPOTENCY_KEY_REUSED"
    assert answer.errors == {
        "Idempotency-Key": ["was used before with another body; send a new key with a new request"]
    }
    assert answer.body["details"] == {"id": first.id}


async def test_a_key_is_of_one_path_method_user_and_company(shop: Shop) -> None:
    world = shop.world
    await world.new_user("other@example.com", "company-admin", ["ACME"])
    other_user = await world.new_token("other@example.com")
    ids = [
        (await world.send("POST", "/api/sales-orders", ORDER, headers=KEY)).id,
        (await world.send("POST", "/api/v2/sales-orders", ORDER, headers=KEY)).id,
        (await world.send("POST", "/api/sales-orders", ORDER, headers=KEY, token=other_user)).id,
    ]
    assert ids == [1, 2, 3]


@pytest.mark.parametrize("key", ["", '""', "a b", "x" * 256, "é", '"a b"'])
async def test_a_key_that_is_none_is_refused(shop: Shop, key: str) -> None:
    answer = await shop.world.call(
        "POST", "/api/sales-orders", ORDER, status=422, headers={"Idempotency-Key": key}
    )
    assert answer.errors == {"Idempotency-Key": ["must be 1 to 255 visible characters"]}


@pytest.mark.parametrize(("sent", "key"), [("k", "k"), ('"k"', "k"), ('"', '"'), ('"k', '"k'), ('k"', 'k"')])
def test_a_key_may_be_quoted(sent: str, key: str) -> None:
    assert read(sent) == key


async def test_a_deletion_has_no_key(shop: Shop) -> None:
    await shop.world.send("POST", "/api/webhooks", WEBHOOK)
    for status in (204, 404):
        await shop.world.call("DELETE", "/api/v2/webhooks/1", status=status, headers=KEY)


async def test_refusals_are_not_kept(shop: Shop) -> None:
    body = {**ORDER, "lines": [{"article_id": 1, "quantity": 25}]}
    await shop.world.call("POST", "/api/sales-orders", body, status=422, headers=KEY)
    await shop.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,30\n")
    answer = await shop.world.send("POST", "/api/sales-orders", body, headers=KEY)
    assert (answer.status, answer.headers.get("Idempotent-Replayed")) == (201, None)


async def test_access_is_checked_before_a_replay(shop: Shop) -> None:
    await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    await shop.world.set_module("ACME", "outbound", False)
    await shop.world.call("POST", "/api/sales-orders", ORDER, status=403, headers=KEY)


async def test_keys_are_kept_for_7_days_and_then_forgotten(shop: Shop) -> None:
    await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    database = await shop.world.database()
    shop.world.clock.advance(7 * 86_400 - 1)
    assert await database.write(forget_old) == 0
    assert (await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)).id == 1
    shop.world.clock.advance(2)
    assert (await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)).id == 1
    assert await database.write(forget_old) == 1
    assert (await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)).id == 2
    assert (await shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY)).id == 2
    shop.world.clock.advance(7 * 86_400 + 1)
    assert await database.write(forget_old) == 1
    assert await shop.world.rows("SELECT * FROM idempotency_keys") == []


async def test_500_concurrent_posts_with_one_key_are_one_order(shop: Shop) -> None:
    answers = await asyncio.gather(
        *(shop.world.send("POST", "/api/sales-orders", ORDER, headers=KEY) for _ in range(500))
    )
    assert {(answer.status, answer.raw) for answer in answers} == {(201, answers[0].raw)}
    assert Counter(answer.headers.get("Idempotent-Replayed") for answer in answers) == {None: 1, "true": 499}
    assert await shop.stock() == (20, 3, 17)
    assert await shop.world.rows("SELECT count(*) FROM sales_orders") == [(1,)]
    assert [name for name, _ in await shop.world.events_after(0)].count("sales_order.created") == 1


async def test_what_a_restarted_server_is_asked_again_it_answers_as_before(tmp_path: Any) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        await open_shop(world)
        token = world.token
        first = await world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        again = await world.send("POST", "/api/sales-orders", ORDER, headers=KEY, token=token, company=1)
    assert (again.status, again.raw) == (201, first.raw)
