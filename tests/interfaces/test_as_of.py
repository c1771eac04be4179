"""`as_of` of a list: every change after the reply has a later `updated_at`.

A client that reads pages and then requests later changes by the `as_of` of the first page misses nothing. The
largest `updated_at` would not be safe: a record of an early page may change before a later page is read.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.shop import Shop
from tests.support.world import World
from wmsd.base import timestamps

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


OF_ARTICLES = ["/api/articles", "/api/v2/articles", "/api/articles/sync"]


@pytest.mark.parametrize("path", [*LISTS, "/api/stock", "/api/v2/stock", *OF_ARTICLES, "/api/returns"])
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
    moment = orders["nodes"][0]["updated_at"]
    assert orders["pageInfo"]["asOf"] == data["articles"]["pageInfo"]["asOf"] == moment
    await shop.world.send("PATCH", "/api/articles/2", {"name": "Later"})
    query = f'{{ articles(updated_since: "{moment}") {{ nodes {{ id }} }} }}'
    data = (await shop.world.call("POST", "/api/graphql", {"query": query})).body["data"]
    assert data["articles"]["nodes"] == [{"id": "2"}]


OF_FEW = {
    **dict.fromkeys(("/api/clients", "/api/partners", "/api/warehouses"), 1),
    **dict.fromkeys(("/api/webhooks", "/api/v2/webhooks"), 2),
    "/api/v2/packaging/types": 1,
}
"""The lists, and the id of the record that changes."""


async def test_what_changes_of_partners_and_webhooks_comes_whatever_the_clock_does(shop: Shop) -> None:
    world = shop.world
    await world.import_csv("packaging-types", "code,name\nEUR,Pallet\nBOX,Box\n")
    for name in ("a", "b", "c"):
        hook = {
            "name": name,
            "url": "https://hooks.example.com",
            "events": ["*"],
            "auth_type": "hmac",
            "secret": "s" * 32,
        }
        await world.call("POST", "/api/webhooks", hook, status=201)
    for number, seconds in enumerate((0, 3600, -7200)):
        world.clock.advance(max(seconds, 0))
        world.clock.set_back(max(-seconds, 0))
        moments = {}
        for path in OF_FEW:
            body = (await world.call("GET", path)).body
            moments[path] = as_of(body)
            assert all(record["updated_at"] <= moments[path] for record in body["data"])
            assert (await world.call("GET", f"{path}?updated_since={moments[path]}")).body["data"] == []
        for kind, code in (
            ("clients", "C1"),
            ("partners", "P1"),
            ("warehouses", "MAIN"),
            ("packaging-types", "EUR"),
        ):
            await world.import_csv(kind, f"code,name\n{code},changed {number}\n")
        await CHANGES_OF_A_WEBHOOK[number](world)
        for path, changed in OF_FEW.items():
            later = (await world.call("GET", f"{path}?updated_since={moments[path]}")).body["data"]
            assert [record["id"] for record in later] == [changed], path


CHANGES_OF_A_WEBHOOK: list[Callable[[World], Any]] = [
    lambda world: world.call("PATCH", "/api/webhooks/2", {"name": "other"}),
    lambda world: world.call("POST", "/api/v2/webhooks/2/rotate-secret", {"secret": "t" * 32}),
    lambda world: world.call("PATCH", "/api/webhooks/2", {"active": False}),
]


async def test_a_list_that_has_not_changed_is_known_although_others_have(shop: Shop) -> None:
    first = await shop.world.call("GET", "/api/sales-orders")
    await shop.world.call("PATCH", "/api/articles/1", {"name": "New"}, events=["article.updated"])
    again = await shop.world.send("GET", "/api/sales-orders", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status == 304


LISTS_SINCE = {
    **dict.fromkeys((*OF_ARTICLES, *OF_FEW), "updated_since"),
    "/api/sales-orders": "updated_since",
    "/api/v2/sales-orders": "updated_since",
    "/api/v2/stock": "updated_since",
    "/api/v2/events": "since",
    "/api/v2/packaging/balances": "since",
    "/api/v2/packaging/movements": "since",
}


@pytest.mark.parametrize(("path", "name"), LISTS_SINCE.items())
async def test_a_moment_in_the_future_is_refused_with_the_servers_time(shop: Shop, path: str, name: str) -> None:
    """A program may send its local time with Z: its copy would miss the changes until that time."""
    now = shop.world.clock.now()
    for moment in (now + timedelta(seconds=1), now + timedelta(hours=2), now + timedelta(days=36500)):
        answer = await shop.world.send("GET", f"{path}?{name}={timestamps.to_text(moment)}")
        assert answer.status == 422
        sentence = f"is in the future: the server's clock says {timestamps.to_text(now)}"
        assert answer.body["errors"] == {name: [sentence]}
    for moment in (now, now - timedelta(days=36500)):
        await shop.world.call("GET", f"{path}?{name}={timestamps.to_text(moment)}")


async def test_the_moment_of_a_change_that_is_ahead_of_the_clock_is_none_in_the_future(shop: Shop) -> None:
    shop.world.clock.advance(3600)
    await shop.order()
    shop.world.clock.set_back(3600)
    body = (await shop.world.call("GET", "/api/sales-orders")).body
    assert as_of(body) > timestamps.to_text(shop.world.clock.now())
    assert (await shop.world.call("GET", f"/api/sales-orders?updated_since={as_of(body)}")).body["data"] == []


async def test_graphql_refuses_it_too(shop: Shop) -> None:
    moment = timestamps.to_text(shop.world.clock.now() + timedelta(seconds=1))
    query = f'{{ sales_orders(updated_since: "{moment}") {{ nodes {{ id }} }} }}'
    answer = (await shop.world.call("POST", "/api/graphql", {"query": query})).body
    assert "in the future" in str(answer["errors"])


async def test_no_cursor_leads_beyond_the_last_change(shop: Shop) -> None:
    """A cursor that was created without a record is remembered too, and the walk returns later changes."""
    shop.world.clock.advance(60)
    now = timestamps.to_text(shop.world.clock.now())
    walk = (await shop.world.call("GET", f"/api/articles/sync?updated_since={now}")).body
    assert walk["data"] == []
    shop.world.clock.set_back(30)
    await shop.world.send("PATCH", "/api/articles/1", {"name": "changed while the clock was behind"})
    later = (await shop.world.call("GET", f"/api/articles/sync?cursor={quote(walk['end_cursor'])}")).body
    assert [each["id"] for each in later["data"]] == [1]
