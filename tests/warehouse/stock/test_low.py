"""Stock is low when the available quantity is at most the minimum: the article's own, or otherwise the
company's.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.shop import Shop
from tests.support.world import World
from wmsd.base.quantity import SCALE
from wmsd.warehouse.stock import store

AMOUNTS = st.integers(0, 12)
MINIMA = st.one_of(st.none(), AMOUNTS)
ACTS = st.one_of(
    st.tuples(st.just("count"), st.tuples(st.sampled_from("AB"), st.sampled_from(["MAIN", "EAST"]), AMOUNTS)),
    st.tuples(st.just("of article"), st.tuples(st.sampled_from("AB"), MINIMA)),
    st.tuples(st.just("of company"), MINIMA),
)


async def act(world: World, what: str, given: Any) -> None:
    if what == "count":
        article, warehouse, amount = given
        await world.import_csv("stock", f"article_code,warehouse_code,quantity\n{article},{warehouse},{amount}\n")
    elif what == "of article":
        code, minimum = given
        await world.import_csv(
            "articles", f"code,name,min_stock\n{code},{code},{'' if minimum is None else minimum}\n"
        )
    else:
        amount = None if given is None else given * SCALE
        await (await world.database()).write(lambda tx: store.set_min_stock(tx, amount))


async def listed(world: World, query: str) -> list[tuple[str, str]]:
    answer = await world.send("GET", f"/api/v2/stock?{query}")
    assert answer.status == 200, answer.raw
    return [(each["article_code"], each["warehouse_code"]) for each in answer.body["data"]]


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ACTS, min_size=1, max_size=12))
async def test_whatever_changes_stock_is_low_by_its_minimum_now(shop: Shop, acts: list[tuple[str, Any]]) -> None:
    available: dict[tuple[str, str], float] = {}
    minima: dict[str, int | None] = {}
    of_company = None
    first = [
        ("of company", None),
        *(("of article", (article, None)) for article in "AB"),
        *(("count", (article, warehouse, 5)) for article in "AB" for warehouse in ("MAIN", "EAST")),
    ]
    for what, given_ in [*first, *acts]:
        await act(shop.world, what, given_)
        if what == "count":
            available[given_[:2]] = given_[2]
        elif what == "of article":
            minima[given_[0]] = given_[1]
        else:
            of_company = given_
    known = await listed(shop.world, "per_page=100")
    low = set(await listed(shop.world, "low=true"))
    assert low | set(await listed(shop.world, "low=false")) == set(known)
    for place in known:
        minimum = of_company if (own := minima.get(place[0])) is None else own
        assert (place in low) == (minimum is not None and available[place] <= minimum), (place, minimum)


async def test_what_is_reserved_or_in_quarantine_is_not_available(shop: Shop) -> None:
    low = [("A", "EAST")]
    assert await listed(shop.world, "low=true") == low
    order = await shop.order({"article_id": 1, "quantity": 15})
    assert await listed(shop.world, "low=true") == [("A", "MAIN"), *low]
    await shop.world.send("PATCH", f"/api/v2/sales-orders/{order.id}/status", {"status": "ANULAT"})
    assert await listed(shop.world, "low=true") == low


@pytest.mark.parametrize("value", ["maybe", "", "2"])
async def test_the_filter_is_true_or_false(shop: Shop, value: str) -> None:
    answer = await shop.world.call("GET", f"/api/v2/stock?low={value}", status=422)
    assert answer.errors == {"low": ["must be true or false"]}


async def test_which_articles_are_low_is_for_who_may_read_stock(shop: Shop) -> None:
    world = shop.world
    await world.new_user("articles@example.com", "member", ["ACME"])
    only = await world.new_token("articles@example.com", ["articles:read"])
    both = await world.new_token("articles@example.com", ["articles:read", "stock:read"])
    for path in ("/api/articles?low=true", "/api/articles?low=false", "/api/v2/articles?low=true"):
        assert (await world.call("GET", path, token=both)).body is not None
        refused = await world.send("GET", path, token=only)
        assert (refused.status, refused.body["code"]) == (403, "FORBIDDEN"), path
        assert refused.body["message"] == "This token lacks the ability stock:read."
    assert (await world.call("GET", "/api/articles", token=only)).body["data"]
