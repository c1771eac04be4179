"""`sort` of version 1's lists: every record once, in the requested order, with and without filters."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.shop import Shop
from wmsd.contract.list_queries import PageQuery
from wmsd.interfaces.rest_v1.routes import ROUTES

LISTS = {
    route.path: route.operation.query.model_json_schema()["properties"]["sort"]["enum"]
    for route in ROUTES
    if route.operation.query is not None and issubclass(route.operation.query, PageQuery)
}
ORDERS = [(path, sort) for path, orders in LISTS.items() for sort in orders]
CODES = ["b,2", "A", "a", "b,10", "Z-9", "é"]
DATES = ["2026-12-24", None, "2026-11-02", "2026-12-24", None, "2026-11-30"]


@pytest.fixture
async def filled(shop: Shop) -> Shop:
    lines = "".join(f'"{code}",Article\n' for code in CODES)
    await shop.world.import_csv("articles", f"code,name\n{lines}".replace('"A",Article\n', ""))
    for code, date in zip(CODES, DATES, strict=True):
        await shop.order({"article_id": 1, "quantity": 0.1}, code=code, requested_date=date)
    for order in (4, 2, 6):
        await shop.world.send("PATCH", f"/api/sales-orders/{order}", {"notes": "later"})
    await shop.world.send("PATCH", "/api/sales-orders/3", {"status": "ANULAT"})
    return shop


def key_of(sort: str) -> Any:
    """Return the sort key: records of one date are ordered by id, and records without a date come last in both
    orders.
    """
    name, without = sort.removeprefix("-"), "" if sort.startswith("-") else "9999"
    if name.endswith("_date"):
        return lambda record: (record[name] or without, record["id"])
    return lambda record: str(record[name]).encode() if name == "code" else record[name]


async def walked(shop: Shop, path: str, query: str, per_page: int) -> list[Any]:
    found: list[Any] = []
    page, last = 1, 1
    while page <= last:
        body = (await shop.world.call("GET", f"{path}?per_page={per_page}&page={page}&{query}")).body
        found += body["data"]
        page, last = page + 1, body["meta"]["last_page"]
    return found


@pytest.mark.parametrize(("path", "sort"), ORDERS)
async def test_every_record_comes_once_and_in_its_place(filled: Shop, path: str, sort: str) -> None:
    every = (await filled.world.call("GET", f"{path}?per_page=200")).body["data"]
    expected = sorted(map(key_of(sort), every), reverse=sort.startswith("-"))
    for per_page in (1, 4, 200):
        found = await walked(filled, path, f"sort={sort}", per_page)
        assert [key_of(sort)(record) for record in found] == expected
        assert {record["id"] for record in found} == {record["id"] for record in every}


@pytest.mark.parametrize("sort", LISTS["/api/sales-orders"])
@pytest.mark.parametrize(
    "filters",
    [
        *("status=CREAT", "status=CREAT,ANULAT", "partner_id=1", "partner_id=1&status=CREAT,ANULAT"),
        *("requested_to=2026-11-30", "requested_from=2026-11-03&status=CREAT,ANULAT"),
        *(
            "requested_from=2026-11-02&requested_to=2026-12-24&partner_id=1",
            "requested_to=2026-12-01&status=CREAT",
        ),
        *("updated_since=2020-01-01T00:00:00Z&requested_to=2026-11-30", "requested_to=2026-01-01"),
        *("updated_since=2020-01-01T00:00:00Z", "updated_since=2020-01-01T00:00:00Z&status=CREAT,ANULAT"),
    ],
)
async def test_what_is_filtered_is_sorted_too(filled: Shop, filters: str, sort: str) -> None:
    every = (await filled.world.call("GET", f"/api/sales-orders?per_page=200&{filters}")).body["data"]
    expected = sorted(every, key=key_of(sort), reverse=sort.startswith("-"))
    found = await walked(filled, "/api/sales-orders", f"{filters}&sort={sort}", 2)
    assert [record["id"] for record in found] == [record["id"] for record in expected]


async def test_a_search_is_sorted_too(filled: Shop) -> None:
    found = await walked(filled, "/api/articles", "search=article&sort=-code", 2)
    assert [record["code"] for record in found] == sorted((set(CODES) - {"A"}), key=str.encode, reverse=True)


async def test_a_page_in_pieces_is_in_its_order(filled: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wmsd.db.sql.joined_records.LARGEST_PAGE", 1500)
    page = (await filled.world.call("GET", "/api/sales-orders?sort=-code")).body
    assert [order["code"] for order in page["data"]] == sorted(CODES, key=str.encode, reverse=True)


@pytest.mark.parametrize("sort", ["name", "", "id,code", "+id", "--id", "change_seq", "id; DROP TABLE articles"])
async def test_an_order_that_there_is_not_is_refused(shop: Shop, sort: str) -> None:
    answer = await shop.world.call("GET", f"/api/articles?sort={quote(sort)}", status=422)
    assert f"cannot be {sort!r}, only id, -id, code" in answer.errors["sort"][0]


async def test_cursor_lists_have_one_order(shop: Shop) -> None:
    await shop.world.call("GET", "/api/v2/sales-orders?sort=code", status=422)
