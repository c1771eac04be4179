"""Lists of sales orders, by page and by cursor: filters, order and totals."""

from typing import Any

import pytest

from tests.support.shop import Shop
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.sales_orders.actions import READING
from wmsd.warehouse.sales_orders.store import ORDERS

DocumentPageQuery: Any = READING.page_query


@pytest.fixture
async def listed(shop: Shop) -> Shop:
    """Create the orders 1 to 6, a minute apart, with the statuses and partners of the plan."""
    plan = [("CREAT", 1), ("IN_LUCRU", 1), ("ANULAT", 2), ("CREAT", 2), ("IN_LUCRU", 2), ("ANULAT", 1)]
    dates = [None, "2026-11-26", "2026-11-27", "2026-11-26", "2026-12-01", None]
    for number, ((status, partner), date) in enumerate(zip(plan, dates, strict=True), start=1):
        await shop.order(status=status, partner_id=partner, external_ref=f"R{number}", requested_date=date)
        shop.world.clock.advance(60)
    return shop


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("status=CREAT", [1, 4]),
        ("status=ANULAT,CREAT", [1, 3, 4, 6]),
        ("status=ANULAT,CREAT,IN_LUCRU", [1, 2, 3, 4, 5, 6]),
        ("partner_id=2", [3, 4, 5]),
        ("partner_id=2&status=CREAT,IN_LUCRU", [4, 5]),
        ("partner_id=99", []),
        ("article_id=1", [1, 2, 3, 4, 5, 6]),
        ("article_id=2", []),
        ("article_id=1&status=CREAT", [1, 4]),
        ("article_id=1&partner_id=2&status=ANULAT,IN_LUCRU", [3, 5]),
        ("article_id=1&requested_to=2026-11-26", [2, 4]),
        ("article_id=1&updated_since=2026-11-20T12:02:30Z", [4, 5, 6]),
        ("article_id=99", []),
        ("status=LIVRAT", []),
        ("external_ref=R5", [5]),
        ("code=SO-000003", [3]),
        ("code=so-000003", []),
        ("updated_since=2026-11-20T12:02:30Z", [4, 5, 6]),
        ("updated_since=2026-11-20T12:02:30Z&status=CREAT,ANULAT", [4, 6]),
        ("updated_since=2026-11-20T12:02:30Z&partner_id=1", [6]),
        ("requested_to=2026-11-26", [2, 4]),
        ("requested_from=2026-11-27", [3, 5]),
        ("requested_from=2026-11-26&requested_to=2026-11-27", [2, 3, 4]),
        ("requested_to=2026-11-27&status=CREAT,IN_LUCRU", [2, 4]),
        ("requested_to=2026-11-27&partner_id=2", [3, 4]),
        ("requested_to=2026-11-27&updated_since=2026-11-20T12:02:30Z", [4]),
    ],
)
async def test_lists_filter_alike_in_both_versions(listed: Shop, query: str, ids: list[int]) -> None:
    v1 = (await listed.world.call("GET", f"/api/sales-orders?{query}")).body
    assert [order["id"] for order in v1["data"]] == ids
    v2 = (await listed.world.call("GET", f"/api/v2/sales-orders?{query}")).body
    meta = {"current_page": 1, "last_page": 1, "per_page": 50, "total": len(ids), "truncated": False}
    assert v1["meta"] == {**meta, "as_of": v2["as_of"]}
    assert (v2["data"], v2["next_cursor"]) == (v1["data"], None)
    paged, walked = [], []
    for page in range(1, len(ids) + 2):
        answer = await listed.world.call("GET", f"/api/sales-orders?{query}&per_page=1&page={page}")
        paged += [order["id"] for order in answer.body["data"]]
    cursor: str | None = ""
    while cursor is not None:
        at = f"&cursor={cursor}" if cursor else ""
        answer = await listed.world.call("GET", f"/api/v2/sales-orders?{query}&per_page=1{at}")
        walked += [order["id"] for order in answer.body["data"]]
        cursor = answer.body["next_cursor"]
    assert paged == walked == ids


async def test_many_of_some_days_are_found_on_the_way(listed: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wmsd.db.sql.lists.FEW", 1)
    await test_lists_filter_alike_in_both_versions(listed, "requested_to=2026-11-27", [2, 3, 4])
    await test_lists_filter_alike_in_both_versions(listed, "requested_to=2026-11-27&status=CREAT,IN_LUCRU", [2, 4])


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("article_id=1", [1, 2, 3, 4, 5, 6]),
        ("article_id=1&status=CREAT", [1, 4]),
        ("article_id=1&partner_id=2&status=ANULAT,IN_LUCRU", [3, 5]),
        ("article_id=1&requested_to=2026-11-26", [2, 4]),
        ("article_id=1&updated_since=2026-11-20T12:02:30Z", [4, 5, 6]),
    ],
)
async def test_orders_of_an_article_that_many_have_are_met_on_the_way(
    listed: Shop, query: str, ids: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wmsd.db.sql.lists.FEW", 1)
    await listed.order({"article_id": 2, "quantity": 1})
    await test_lists_filter_alike_in_both_versions(listed, query, ids)


async def test_an_order_with_an_article_in_many_lines_is_one(listed: Shop) -> None:
    await listed.order(*[{"article_id": 2, "quantity": 0.1}] * 3)
    meta = (await listed.world.call("GET", "/api/sales-orders?article_id=2")).body["meta"]
    assert meta["total"] == 1


async def test_a_filter_that_is_no_day_is_refused(shop: Shop) -> None:
    for version in ("", "/v2"):
        answer = await shop.world.call("GET", f"/api{version}/sales-orders?requested_to=26.11.2026", status=422)
        assert answer.errors == {"requested_to": ["must be a date such as 2026-11-20"]}


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (DocumentPageQuery(sort="-requested_date"), "sales_orders_by_status_and_date (status=?)"),
        (
            DocumentPageQuery(sort="requested_date", status="CREAT,IN_LUCRU", requested_to="2026-11-27"),
            "sales_orders_by_status_and_date (status=? AND requested_date<?)",
        ),
        (
            DocumentPageQuery(requested_from="2026-11-27", requested_to="2026-11-27"),
            "sales_orders_by_status_and_date (status=? AND requested_date>? AND requested_date<?)",
        ),
    ],
)
async def test_dates_are_found_by_their_index(shop: Shop, query: Any, index: str) -> None:
    def plan(tx: Transaction) -> list[str]:
        values = query.filters()
        planned = ORDERS.listing._sorted(query.sort)._planned(tx, values, 50)
        sql, given = planned._chosen("sales_orders.id", values, "")
        found = tx.rows(f"EXPLAIN QUERY PLAN {sql}", {**given, "limit": 50, "offset": 0})
        return [row[3] for row in found]

    found = await (await shop.world.database()).read(plan)
    assert [each for each in found if index in each], found
    assert not [each for each in found if each.startswith("SCAN sales_orders")]


async def test_totals_follow_moves_and_changes_of_partner(listed: Shop) -> None:
    await listed.world.send("PATCH", "/api/sales-orders/1", {"status": "ANULAT"})
    await listed.world.send("PATCH", "/api/sales-orders/2", {"partner_id": 2})
    for query, total in (("status=ANULAT", 3), ("partner_id=2", 4), ("partner_id=1&status=CREAT", 0)):
        assert (await listed.world.call("GET", f"/api/sales-orders?{query}")).body["meta"]["total"] == total


async def test_a_filter_that_is_no_status_names_those_that_are(shop: Shop) -> None:
    for version in ("", "/v2"):
        answer = await shop.world.call("GET", f"/api{version}/sales-orders?status=CREAT,DONE", status=422)
        assert answer.errors == {"status": ["cannot be 'DONE', only CREAT, IN_LUCRU, INCARCAT, LIVRAT, ANULAT"]}


@pytest.mark.parametrize("nothing", ["", ",", "%20"])
async def test_a_filter_without_any_status_says_what_it_takes(shop: Shop, nothing: str) -> None:
    answer = await shop.world.call("GET", f"/api/sales-orders?status={nothing}", status=422)
    assert answer.errors == {"status": ["must be one or more of CREAT, IN_LUCRU, INCARCAT, LIVRAT, ANULAT"]}
