"""Tests of ETag and If-Match: a record is changed only if it is as the caller has seen it."""

import pytest

from tests.support.shop import Shop

ORDER = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 3}]}


async def test_the_tag_of_a_record_is_the_same_until_it_changes(shop: Shop) -> None:
    order = await shop.order()
    path = f"/api/sales-orders/{order.id}"
    tag = (await shop.world.call("GET", path)).headers["ETag"]
    assert order.headers["ETag"] == tag
    assert (await shop.world.call("GET", f"/api/v2/sales-orders/{order.id}")).headers["ETag"] == tag
    changed = await shop.world.call("PATCH", path, {"notes": "x"}, events=["sales_order.updated"])
    assert changed.headers["ETag"] != tag
    assert (await shop.world.call("GET", path)).headers["ETag"] == changed.headers["ETag"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/api/sales-orders/1", {**ORDER, "partner_id": 2}),
        ("PATCH", "/api/sales-orders/1", {"notes": "x"}),
        ("PATCH", "/api/v2/sales-orders/1/status", {"status": "IN_LUCRU"}),
        ("PUT", "/api/articles/1", {"code": "A", "name": "Changed"}),
        ("PATCH", "/api/articles/1", {"name": "Changed"}),
        ("PATCH", "/api/articles/by-code/A", {"name": "Changed"}),
    ],
)
async def test_a_change_of_what_was_not_seen_is_refused(
    shop: Shop, method: str, path: str, body: dict[str, object]
) -> None:
    await shop.order()
    seen = "/api/articles/1" if "articles" in path else "/api/sales-orders/1"
    before = await shop.world.call("GET", seen)
    tag = before.headers["ETag"]
    for stale in ('"0123456789abcdef01234567"', 'W/"0123456789abcdef01234567-gzip"', '"other"', "other", '""', ""):
        answer = await shop.world.call(method, path, body, status=412, headers={"If-Match": stale})
        assert answer.body["code"] == "PRECONDITION_FAILED"
        assert ("has changed" in answer.body["message"]) is ("0123" in stale), "no change is claimed that was not"
        assert answer.headers["ETag"] == tag
    assert (await shop.world.call("GET", seen)).raw == before.raw
    changed = await shop.world.send(method, path, body, headers={"If-Match": f'"other", {tag}'})
    assert changed.status == 200
    await shop.world.call(method, path, body, status=412, headers={"If-Match": tag})


@pytest.mark.parametrize(
    "passed_on",
    [
        "{}",
        '"{}"',
        'W/"{}"',
        "W/{}",
        '"{}-gzip"',
        'W/"{}-gzip"',
        '"{}-br"',
        '"{}-zstd"',
        '"{};gzip"',
        '"x", "{}-br"',
    ],
)
async def test_the_tag_of_a_record_is_known_as_proxies_and_clients_pass_it_on(shop: Shop, passed_on: str) -> None:
    """An ETag is recognised in the forms in which proxies and clients pass it on.

    nginx makes an ETag weak when it compresses the answer, Apache appends the compression, and some clients drop
    the quotes.
    """
    order = await shop.order()
    path = f"/api/sales-orders/{order.id}"
    tag = passed_on.format(order.headers["ETag"].strip('"'))
    unchanged = await shop.world.send("GET", path, headers={"If-None-Match": tag})
    assert unchanged.status == 304
    changed = await shop.world.send("PATCH", path, {"notes": "x"}, headers={"If-Match": tag})
    assert changed.status == 200
    await shop.world.call("PATCH", path, {"notes": "y"}, status=412, headers={"If-Match": tag})


async def test_a_star_matches_whatever_is_there(shop: Shop) -> None:
    await shop.order()
    answer = await shop.world.send("PATCH", "/api/sales-orders/1", {"notes": "x"}, headers={"If-Match": "*"})
    assert answer.status == 200
    await shop.world.call("PATCH", "/api/sales-orders/9", {"notes": "x"}, status=404, headers={"If-Match": "*"})


async def test_a_repeated_change_is_answered_as_before_although_its_tag_is_old(shop: Shop) -> None:
    order = await shop.order()
    headers = {"If-Match": order.headers["ETag"], "Idempotency-Key": "k"}
    path = f"/api/sales-orders/{order.id}"
    first = await shop.world.send("PATCH", path, {"notes": "x"}, headers=headers)
    again = await shop.world.call("PATCH", path, {"notes": "x"}, headers=headers)
    assert (first.status, again.raw) == (200, first.raw)
