"""The filters of lists on the pages find a part of a code or a name; the filters of the API stay exact."""

import csv
import io
import re
from urllib.parse import urlencode

import pytest

from tests.interfaces.pages.administering import signed_in_as
from tests.interfaces.pages.records.test_browse import SCRIPT, first_cells, links, rows, signed_in, text_of
from tests.interfaces.pages.records.test_bulk import chosen
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from wmsd.warehouse.search import part_filters
from wmsd.warehouse.search.search_store import index_changes


@pytest.fixture(params=["pending", "indexed"])
async def visitor(request: pytest.FixtureRequest, shop: Shop) -> Visitor:
    """Sign in a platform admin at a shop with orders, before and after they are indexed."""
    await shop.order(code="WEB/0451-ă", external_ref="Amazon 77-1", requested_date="2026-12-03")
    await shop.order(code="X-1045", partner_id=2, status="IN_LUCRU", requested_date="2026-12-01")
    await shop.order(code="Y-9", external_ref="0451", requested_date="2026-12-02")
    if request.param == "indexed":
        while await (await shop.world.database()).write(index_changes, is_quiet=True):
            pass
    return await signed_in(shop.world)


async def listed(visitor: Visitor, name: str, /, **asked: str) -> list[str]:
    return first_cells(await visitor.get(f"/companies/1/{name}?{urlencode(asked)}"))


async def test_a_part_of_a_code_finds_it(visitor: Visitor) -> None:
    assert await listed(visitor, "sales-orders", code="045") == ["X-1045", "WEB/0451-ă"]
    assert await listed(visitor, "sales-orders", code="b 0451A") == ["WEB/0451-ă"]
    assert await listed(visitor, "sales-orders", code="X-1045") == ["X-1045"]
    assert await listed(visitor, "sales-orders", external_ref="zon77") == ["WEB/0451-ă"]
    assert await listed(visitor, "sales-orders", code="zon77") == []
    assert await listed(visitor, "sales-orders", code="---") == []


async def test_below_three_characters_it_is_the_beginning(visitor: Visitor) -> None:
    assert await listed(visitor, "sales-orders", code="x") == ["X-1045"]
    assert await listed(visitor, "sales-orders", code="we") == ["WEB/0451-ă"]
    assert await listed(visitor, "sales-orders", code="45") == []
    assert await listed(visitor, "sales-orders", external_ref="am") == ["WEB/0451-ă"]


async def test_it_goes_with_other_filters_orders_pages_and_files(visitor: Visitor) -> None:
    assert await listed(visitor, "sales-orders", code="045", status="IN_LUCRU") == ["X-1045"]
    assert await listed(visitor, "sales-orders", code="045", status="CREAT,IN_LUCRU", partner="P1") == [
        "WEB/0451-ă"
    ]
    assert await listed(visitor, "sales-orders", code="045", external_ref="771") == ["WEB/0451-ă"]
    assert await listed(visitor, "sales-orders", code="045", requested_from="2.12.2026") == ["WEB/0451-ă"]
    by_day = await listed(visitor, "sales-orders", code="045", sort="requested_date")
    assert by_day == ["X-1045", "WEB/0451-ă"]
    assert await listed(visitor, "sales-orders", code="045", sort="-code") == ["X-1045", "WEB/0451-ă"]
    assert await listed(visitor, "sales-orders", code="045", sort="code") == ["WEB/0451-ă", "X-1045"]
    file = await visitor.get("/companies/1/sales-orders.csv?code=045")
    assert [row["code"] for row in csv.DictReader(io.StringIO(file.text))] == ["WEB/0451-ă", "X-1045"]


async def test_a_page_is_cut_from_what_was_found(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wmsd.interfaces.pages.records.browse.PER_PAGE", 1)
    first = await visitor.get("/companies/1/sales-orders?code=045")
    assert (first_cells(first), "2 found" in first.text) == (["X-1045"], True)
    (after,) = links(first, "next")
    assert first_cells(await visitor.get(after)) == ["WEB/0451-ă"]


async def test_all_that_match_are_chosen_for_an_act(visitor: Visitor) -> None:
    path = "/companies/1/sales-orders/bulk?code=045&status=CREAT"
    seen = await chosen(visitor, "start", path=path.replace("/bulk", ""), all="1")
    assert re.findall(r'name="record\.(\d+)"', seen.text) == ["1"]


async def test_every_other_list_finds_so_too(visitor: Visitor) -> None:
    await visitor.world.import_csv("articles", "code,name\nALU-7701,Rod\nZINC,Zinc\n")
    await visitor.world.import_csv("partners", "code,name\nP77,Crème brûlée SRL\nP78,Brûlée doi\n")
    await visitor.world.import_csv("stock", "article_code,warehouse_code,quantity\nALU-7701,MAIN,2\n")
    assert await listed(visitor, "articles", code="u77") == ["ALU-7701"]
    assert await listed(visitor, "partners", name="creme") == ["P77"]
    assert await listed(visitor, "partners", code="p7", name="brulee") == ["P77", "P78"]
    assert await listed(visitor, "partners", code="p7", name="brulee", active="false") == []
    assert await listed(visitor, "warehouses", code="ain") == ["MAIN"]
    assert await listed(visitor, "stock", article_code="u77") == ["ALU-7701 Rod"]
    assert await listed(visitor, "stock", article_code="u77", warehouse="EAST") == []


async def test_a_partner_is_found_by_its_name(visitor: Visitor) -> None:
    assert await listed(visitor, "sales-orders", partner="secon") == ["X-1045"]
    assert await listed(visitor, "sales-orders", partner="P2") == ["X-1045"]
    await visitor.world.import_csv("partners", "code,name\nP5,Second hand\n")
    assert await listed(visitor, "sales-orders", partner="second") == ["X-1045"]
    seen = await visitor.get("/companies/1/sales-orders?partner=secon")
    assert seen.status == 422
    assert "Several records match “secon”. Type more, or choose one from the list." in text_of(seen.text)
    assert 'value="secon"' in seen.text
    nobody = await visitor.get("/companies/1/sales-orders?partner=nobody")
    assert "No record matches “nobody”. Type a code, or a part of the name." in text_of(nobody.text)
    assert 'data-choices="/companies/1/search/partners"' in seen.text


async def test_the_filters_of_the_api_are_exact(visitor: Visitor) -> None:
    for path in ("/api/sales-orders", "/api/v2/sales-orders"):
        assert (await visitor.world.call("GET", f"{path}?code=045")).body["data"] == []
        assert len((await visitor.world.call("GET", f"{path}?code=X-1045")).body["data"]) == 1
        refused = await visitor.world.send("GET", f"{path}?name=x")
        assert refused.status == 422


HOSTILE = [
    SCRIPT,
    '"' * 70,
    "a" * 5000,
    "\0",
    '" OR *',
    "NEAR(",
    "'; DROP TABLE sales_orders; --",
    "*",
    "[a-z]",
    "??",
]


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_parts_find_nothing_and_break_nothing(visitor: Visitor, text: str) -> None:
    for name, asked in (("sales-orders", "code"), ("sales-orders", "external_ref"), ("sales-orders", "partner")):
        seen: Seen = await visitor.get(f"/companies/1/{name}?{urlencode({asked: text})}")
        assert seen.status in (200, 422), seen.text
        assert seen.status == 422 or rows(seen) == []
        assert SCRIPT not in seen.text


async def test_who_may_not_list_them_finds_none(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("orders@example.com", "member", ["ACME"], ["sales-orders:read"])
    orders = await signed_in_as(world, "orders@example.com")
    assert await listed(orders, "sales-orders", code="045") == ["X-1045", "WEB/0451-ă"]
    seen = await orders.get("/companies/1/sales-orders?partner=second")
    assert "you are not allowed to read such records" in seen.text
    assert (await orders.get("/companies/1/partners?name=second")).status == 403
    other = await world.new_company("OTHER")
    assert await listed(visitor, "sales-orders", code="045")
    assert first_cells(await visitor.get(f"/companies/{other}/sales-orders?code=045")) == []


async def test_more_than_are_looked_through_are_told(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_filters, "MOST_PENDING", 0)
    monkeypatch.setattr(part_filters, "MOST_FOUND", 0)
    seen = await visitor.get("/companies/1/sales-orders?code=045")
    assert re.search("only the newest 5.000 records were searched", seen.text)
    for file in ("sales-orders.csv?code=045", "sales-orders.csv?format=import&code=045"):
        refused = await visitor.get(f"/companies/1/{file}")
        assert refused.status == 422, "a file of some of them would look like all"
        assert "Too many records match to search all of them" in refused.text


async def test_a_filter_that_one_may_not_use_is_not_offered(visitor: Visitor) -> None:
    world = visitor.world
    await world.new_user("articles@example.com", "member", ["ACME"], ["articles:read"])
    articles = await signed_in_as(world, "articles@example.com")
    assert 'name="low"' in (await visitor.get("/companies/1/articles")).text
    assert 'name="low"' not in (await articles.get("/companies/1/articles")).text
    assert (await articles.get("/companies/1/articles?low=true")).status == 403
