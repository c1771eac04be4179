"""`as_of` of a list: whatever changes after the answer has a later `updated_at`.

Who reads in pages and asks for later changes by the `as_of` of the first page misses nothing. The largest
`updated_at` that was seen would not do: a record of an early page may change before a later page is read.
"""

from typing import Any

import pytest

from tests.support.shop import Shop

LISTS = ["/api/sales-orders", "/api/v2/sales-orders"]


def as_of(page: Any) -> str:
    return str(page["as_of"] if "as_of" in page else page["meta"]["as_of"])


@pytest.mark.parametrize("path", LISTS)
async def test_what_changed_behind_a_reader_comes_the_next_time(shop: Shop, path: str) -> None:
    for _ in range(3):
        await shop.order()
    first = (await shop.world.call("GET", f"{path}?per_page=1")).body
    for order in (1, 3):
        changes = {"notes": "changed while somebody reads"}
        await shop.world.call("PATCH", f"/api/sales-orders/{order}", changes, events=["sales_order.updated"])
    last = (await shop.world.call("GET", path)).body
    found = (await shop.world.call("GET", f"{path}?updated_since={as_of(first)}")).body["data"]
    assert [order["id"] for order in found] == [1, 3]
    by_the_largest_seen = last["data"][2]["updated_at"]
    missed = (await shop.world.call("GET", f"{path}?updated_since={by_the_largest_seen}")).body["data"]
    assert missed == [], "which is why there is as_of"


@pytest.mark.parametrize("path", [*LISTS, "/api/stock", "/api/v2/stock", "/api/articles/sync", "/api/returns"])
async def test_nothing_shown_is_later_and_nothing_new_is_not(shop: Shop, path: str) -> None:
    await shop.order()
    for seconds in (0.0, 3600.0, -7200.0):
        shop.world.clock.advance(max(seconds, 0))
        shop.world.clock.set_back(max(-seconds, 0))
        body = (await shop.world.call("GET", path)).body
        assert all(record["updated_at"] <= as_of(body) for record in body["data"])
        assert (await shop.world.call("GET", f"{path}?updated_since={as_of(body)}")).body["data"] == []
        await shop.order({"article_id": 1, "quantity": 0.5})
        await shop.world.send("PATCH", "/api/articles/2", {"name": f"after {seconds}"})
        later = (await shop.world.call("GET", f"{path}?updated_since={as_of(body)}")).body["data"]
        assert bool(later) is (path != "/api/returns")


async def test_graphql_says_it_too(shop: Shop) -> None:
    await shop.order()
    query = "{ sales_orders(first: 1) { nodes { updated_at } pageInfo { asOf } } articles { pageInfo { asOf } } }"
    data = (await shop.world.call("POST", "/api/graphql", {"query": query})).body["data"]
    orders = data["sales_orders"]
    assert orders["pageInfo"]["asOf"] == orders["nodes"][0]["updated_at"]
    assert data["articles"]["pageInfo"]["asOf"] is None, "articles are not asked for by their change"


async def test_a_list_that_has_not_changed_is_known_although_others_have(shop: Shop) -> None:
    first = await shop.world.call("GET", "/api/sales-orders")
    await shop.world.call("PATCH", "/api/articles/1", {"name": "New"}, events=["article.updated"])
    again = await shop.world.send("GET", "/api/sales-orders", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status == 304
