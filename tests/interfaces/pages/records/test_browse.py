"""The records of a company on the pages: the lists, the filters, each record, and the CSV files."""

import csv
import html
import io
import json
import re
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop, open_shop
from tests.support.world import PASSWORD, World, open_world
from wmsd.contract.access import Role
from wmsd.contract.csv_cells import unguarded
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.resources import RESOURCES
from wmsd.interfaces.pages.records import browse

EMAIL = "ana@example.com"
NOTHING = TO = "\N{EN DASH}"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in a platform admin at a shop with two orders."""
    await shop.order(external_ref="WEB-1")
    await shop.order(status="LIVRAT")
    return await signed_in(shop.world)


async def signed_in(world: World, *codes: str, abilities: list[str] | None = None) -> Visitor:
    role: Role = "platform-admin" if abilities is None else "member"
    await world.new_user(EMAIL, role, codes, abilities or [])
    visitor = Visitor(world)
    await visitor.sign_in(EMAIL, PASSWORD)
    return visitor


def rows(seen: Seen) -> list[list[str]]:
    """Return the texts of the cells of the first table, without the boxes that select a row."""
    assert seen.status == 200, seen.text
    found = re.search(r"<tbody>(.*?)</tbody>", seen.text, re.DOTALL)
    if found is None:
        return []
    return [
        [text_of(cell) for cell in re.findall(r'<td(?! class="tick").*?>(.*?)</td>', row, re.DOTALL)]
        for row in re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL)
    ]


def text_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<.*?>", " ", markup)).split())


def first_cells(seen: Seen) -> list[str]:
    return [cells[0] for cells in rows(seen)]


def links(seen: Seen, rel: str) -> list[str]:
    return [html.unescape(each) for each in re.findall(rf'rel="{rel}" href="(.*?)"', seen.text)]


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.name)
async def test_every_resource_is_listed(visitor: Visitor, resource: Resource) -> None:
    seen = await visitor.get(f"/companies/1/{resource.name}")
    assert (seen.status, seen.heading) == (200, resource.title)


async def test_a_list_shows_codes_and_names_of_what_records_refer_to(visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/sales-orders")
    assert [cells[:5] for cells in rows(seen)] == [
        ["SO-000002", "Delivered", "P1 First", "1", NOTHING],
        ["SO-000001", "Created", "P1 First", "1", "WEB-1"],
    ]
    assert 'title="LIVRAT"' in seen.text
    assert '<a href="/companies/1/partners/1">P1</a>' in seen.text


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("status=LIVRAT", ["SO-000002"]),
        ("external_ref=WEB-1", ["SO-000001"]),
        ("partner=P1&status=CREAT", ["SO-000001"]),
        ("partner=P2", []),
        ("sort=code", ["SO-000001", "SO-000002"]),
        ("unknown=1&page=1", ["SO-000002", "SO-000001"]),
    ],
)
async def test_filters_and_order(visitor: Visitor, query: str, codes: list[str]) -> None:
    assert first_cells(await visitor.get(f"/companies/1/sales-orders?{query}")) == codes


@pytest.mark.parametrize("day", ["26.11.2026", "26/11/2026", "2026-11-26"])
async def test_days_are_typed_as_people_write_them(shop: Shop, visitor: Visitor, day: str) -> None:
    for date in ("2026-11-26", "2026-11-27"):
        await shop.order(requested_date=date)
    seen = await visitor.get(f"/companies/1/sales-orders?requested_to={quote(day)}")
    assert first_cells(seen) == ["SO-000003"]
    assert 'name="requested_to" value="26.11.2026"' in seen.text, "a link may have any form, people read one"


async def test_a_filter_by_several_statuses_stays_when_the_form_is_sent(visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/sales-orders?status=CREAT,IN_LUCRU")
    assert first_cells(seen) == ["SO-000001"]
    assert '<option value="CREAT,IN_LUCRU" selected>Created, In work</option>' in seen.text


@pytest.mark.parametrize(
    ("query", "name", "sentence"),
    [
        ("partner=NOBODY", "partner", "No record matches “NOBODY”. Type a code, or a part of the name."),
        ("updated_since=yesterday", "updated_since", "must be"),
        ("updated_since=2099-01-01T00:00", "updated_since", "is in the future"),
        ("status=GONE", "status", "cannot be"),
        ("requested_to=31.11.2026", "requested_to", "must be a date such as"),
        ("requested_to=soon", "requested_to", "must be a date such as"),
    ],
)
async def test_a_wrong_filter_is_told_beside_it_and_keeps_what_was_typed(
    visitor: Visitor, query: str, name: str, sentence: str
) -> None:
    seen = await visitor.get(f"/companies/1/sales-orders?{query}")
    assert seen.status == 422
    assert sentence in text_of(seen.text)
    value = query.partition("=")[2]
    assert f'value="{value}"' in seen.text or f"<option selected>{value}</option>" in seen.text
    assert f'id="{name}-error"' in seen.text


@pytest.mark.parametrize("wrong", ["partner=NOBODY", "updated_since=yesterday", "status=GONE"])
async def test_the_other_filters_stay_when_one_is_wrong(visitor: Visitor, wrong: str) -> None:
    others = {"partner": "P1", "updated_since": "2026-01-02T03:04", "external_ref": "WEB-1", "code": "SO-000001"}
    others.pop(wrong.partition("=")[0], None)
    seen = await visitor.get(f"/companies/1/sales-orders?{wrong}&{urlencode(others)}")
    assert seen.status == 422
    assert [name for name, value in others.items() if f'name="{name}" value="{value}"' not in seen.text] == []


async def test_events_are_listed_the_newest_first(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    log = (await visitor.world.call("GET", "/api/v2/events?per_page=500")).body["data"]
    newest = [each["id"] for each in reversed(log)]
    monkeypatch.setattr(browse, "PER_PAGE", len(newest) - 1)
    first = await visitor.get("/companies/1/events")
    (further,) = links(first, "next")
    assert [cells[3] for seen in (first, await visitor.get(further)) for cells in rows(seen)] == newest


async def test_events_are_filtered_by_name_and_moment(shop: Shop, visitor: Visitor) -> None:
    named = await visitor.get("/companies/1/events?event=sales_order.created")
    assert {cells[1] for cells in rows(named)} == {"sales_order.created"}
    shop.world.clock.advance(60)
    assert rows(await visitor.get("/companies/1/events?since=2026-11-20T12:01")) == []


@pytest.mark.parametrize("query", ["page=0", "page=x", "sort=name", "cursor=forged"])
async def test_a_wrong_place_is_refused(visitor: Visitor, query: str) -> None:
    resource = "events" if "cursor" in query else "articles"
    assert (await visitor.get(f"/companies/1/{resource}?{query}")).status in (400, 422)


async def test_a_list_is_walked_by_its_links(visitor: Visitor) -> None:
    world = visitor.world
    articles = "".join(f"N{number:03},Name {number}\n" for number in range(120))
    await world.import_csv("articles", f"code,name\n{articles}")
    path, seen = "/companies/1/articles?search=name", []
    while path:
        page = await visitor.get(path)
        seen += first_cells(page)
        path = (links(page, "next") or [""])[0]
    assert seen == [f"N{number:03}" for number in range(120)]
    assert f"101{TO}120 of 120" in page.text
    assert links(page, "prev") == ["/companies/1/articles?search=name&page=2"]


async def test_a_cursor_list_is_walked_by_its_links(visitor: Visitor) -> None:
    world = visitor.world
    for number in range(60):
        await world.call(
            "POST", "/api/articles", {"code": f"N{number}", "name": "x"}, status=201, events=["article.created"]
        )
    first = await visitor.get("/companies/1/events?event=article.created")
    (after,) = links(first, "next")
    second = await visitor.get(after)
    assert len(rows(first)) == 50
    assert len(rows(second)) == 13  # including the three initial articles of the shop
    assert links(second, "prev") == ["/companies/1/events?event=article.created"]


async def test_a_record_shows_its_fields_its_lines_and_its_call(visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/sales-orders/1")
    assert seen.heading == "SO-000001"
    text = text_of(seen.text)
    assert "Partner P1 First" in text
    assert "A Alpha" in text
    assert "/api/sales-orders/1 -H" in text
    assert 'X-Company-Id: 1"' in text
    assert "Copy the code Id 1 Copy the id" in text


async def test_an_event_shows_what_webhooks_send(shop: Shop, visitor: Visitor) -> None:
    event = (await shop.world.call("GET", "/api/v2/events")).body["data"][-1]
    listed = (await visitor.get("/companies/1/events")).text
    path = f"/companies/1/events/{event['id']}"
    assert f'href="{path}"' in listed
    seen = await visitor.get(path)
    assert seen.heading == event["event"]
    (body,) = re.findall(r'<pre class="code" tabindex="0">(.*?)</pre>', seen.text, re.DOTALL)
    assert json.loads(html.unescape(body)) == {name: event[name] for name in ("event", "timestamp", "data")}
    assert (await visitor.get(f"{path[:-1]}{'0' if path[-1] != '0' else '1'}")).status == 404
    await shop.world.new_company("OTHER")
    assert (await visitor.get(path.replace("/1/", "/2/"))).status == 404


async def test_an_event_needs_the_ability(shop: Shop) -> None:
    event = (await shop.world.call("GET", "/api/v2/events")).body["data"][-1]
    member = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    assert (await member.get(f"/companies/1/events/{event['id']}")).status == 403


@pytest.mark.parametrize(
    "path", ["sales-orders/99", "stock/99", "events/1", "nothing", "nothing/1", "nothing.csv", "articles/0"]
)
async def test_what_is_not_there_is_told(visitor: Visitor, path: str) -> None:
    seen = await visitor.get(f"/companies/1/{path}")
    assert (seen.status, seen.heading) == (404, "Page not found")


async def test_another_company_is_as_none(shop: Shop) -> None:
    await shop.world.new_company("OTHER")
    visitor = await signed_in(shop.world, "OTHER", abilities=["articles:read"])
    told = {(await visitor.get(f"/companies/{company}/articles")).text for company in (1, 99)}
    assert len(told) == 1
    assert "This company does not exist, or you have no access to it." in told.pop()
    assert (await visitor.get("/companies/1/articles.csv")).status == 404
    assert (await visitor.get("/companies/2/articles")).status == 200


async def test_only_what_a_person_may_read_is_offered_and_shown(shop: Shop) -> None:
    await shop.order()
    visitor = await signed_in(shop.world, "ACME", abilities=["articles:read", "sales-orders:read"])
    seen = await visitor.get("/companies/1/sales-orders")
    offered = re.findall(r'<a href="/companies/1/([a-z-]+)"', seen.text)
    assert set(offered) == {"articles", "sales-orders", "requests"}
    assert rows(seen)[0][2] == "1"  # the id, because the user may not read partners
    refused = await visitor.get("/companies/1/partners")
    assert (refused.status, "You lack the ability partners:read." in refused.text) == (403, True)


async def test_a_module_that_is_off_is_named(visitor: Visitor) -> None:
    await visitor.world.set_module("ACME", "outbound", False)
    seen = await visitor.get("/companies/1/sales-orders")
    assert (seen.status, "The module outbound is off for this company." in seen.text) == (403, True)
    assert "/companies/1/sales-orders" not in (await visitor.get("/companies/1/articles")).text


async def test_people_need_not_the_module_of_programs(visitor: Visitor) -> None:
    await visitor.world.set_module("ACME", "api", False)
    await visitor.world.call("GET", "/api/articles", status=403)
    assert (await visitor.get("/companies/1/articles")).status == 200


async def test_a_company_leads_to_what_may_be_read_there(visitor: Visitor) -> None:
    assert (await visitor.get("/companies/1")).goes_to == "/companies/1/sales-orders"


async def test_who_may_read_nothing_is_told(shop: Shop) -> None:
    visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    await shop.world.set_module("ACME", "articles", False)
    seen = await visitor.get("/companies/1")
    assert (seen.status, "You cannot read any data of" in seen.text) == (403, True)


async def test_script_in_a_field_is_text(visitor: Visitor) -> None:
    body = {"code": "X<b>", "name": SCRIPT, "description": SCRIPT}
    await visitor.world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    for path in ("articles?search=alert", "articles/4", f"articles?search={SCRIPT}&code={SCRIPT}", "events"):
        seen = await visitor.get(f"/companies/1/{path}")
        assert "<script>" not in seen.text


async def test_people_never_use_up_what_programs_may_ask_for(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 5, "pages_per_minute": 12}}) as world:
        await open_shop(world)
        visitor = await signed_in(world)
        seen = [(await visitor.get("/companies/1/articles")).status for _ in range(8)]
        assert (seen[0], seen[-1]) == (200, 429)
        answer = await world.call("GET", "/api/articles")
        assert answer.headers["X-RateLimit-Remaining"] == "4"


def table(seen: Seen) -> list[dict[str, str]]:
    assert seen.status == 200, seen.text
    return list(csv.DictReader(io.StringIO(seen.text)))


async def test_a_list_is_a_file_for_a_spreadsheet(visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/sales-orders.csv?status=CREAT")
    assert seen.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert seen.headers["Cache-Control"] == "no-store"
    assert re.fullmatch(
        r'attachment; filename="sales-orders-ACME-[0-9-]{10}\.csv"', seen.headers["Content-Disposition"]
    )
    (order,) = table(seen)
    assert (order["code"], order["status"], order["external_ref"]) == ("SO-000001", "CREAT", "WEB-1")
    assert "lines" not in order


async def test_a_file_has_every_record_of_the_list(visitor: Visitor) -> None:
    articles = "".join(f"N{number:04},Name {number}\n" for number in range(1100))
    await visitor.world.import_csv("articles", f"code,name\n{articles}")
    written = table(await visitor.get("/companies/1/articles.csv"))
    assert [each["code"] for each in written] == ["A", "B", "OLD", *(f"N{number:04}" for number in range(1100))]
    assert written[0]["min_stock"] == "10"


async def test_a_formula_in_a_file_is_text_and_is_read_back_unchanged(visitor: Visitor) -> None:
    names = ['=HYPERLINK("http://x")', "+1-2", "@SUM(1)", "-3", "'=1", "plain"]
    for number, name in enumerate(names):
        body = {"code": f"F{number}", "name": name}
        await visitor.world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    written = [each["name"] for each in table(await visitor.get("/companies/1/articles.csv"))][3:]
    assert [unguarded(name) for name in written] == names
    assert written[:3] == ["'" + name for name in names[:3]]


async def test_who_is_not_signed_in_signs_in_and_comes_back_to_the_list(world: World) -> None:
    seen = await Visitor(world).get("/companies/1/articles?search=a")
    assert (seen.status, seen.goes_to) == (303, "/sign-in?next=/companies/1/articles?search%3Da")


async def test_a_partner_has_its_documents_and_packaging_under_it(shop: Shop, visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/partners/1")
    titles = ["Sales orders", "Purchase orders", "Returns", "Packaging", "Packaging movements"]
    assert [each for each in re.findall(r"<h2>(.*?)</h2>", seen.text) if each in titles] == titles
    assert first_cells(seen) == ["SO-000002", "SO-000001"]
    every, still_open = "/companies/1/sales-orders?partner=P1", "&amp;status=CREAT,IN_LUCRU,INCARCAT"
    assert f'<a href="{every}{still_open}">Open</a> <a href="{every}">All</a>' in seen.text
    assert first_cells(await visitor.get(f"{every}{html.unescape(still_open)}")) == ["SO-000001"]


async def test_an_order_has_what_came_of_it_under_it(shop: Shop, visitor: Visitor) -> None:
    line = {"article_id": 1, "quantity": 1}
    body = {"partner_id": 1, "warehouse_id": 1, "sales_order_id": 2, "lines": [line]}
    assert (await visitor.world.send("POST", "/api/returns", body)).status == 201
    items = {"partner_id": 1, "warehouse_id": 1, "items": [line]}
    assert (await visitor.world.send("POST", "/api/purchase-orders", items)).status == 201
    received = {"selected_items": [{"po_item_id": 1, "quantity_um3pl": 1}]}
    body = {"purchase_order_id": 1, "warehouse_id": 1, **received}
    assert (await visitor.world.send("POST", "/api/receptions", body)).status == 201
    for path, code in (
        ("sales-orders/2", '/returns/1">RT-000001'),
        ("purchase-orders/1", '/receptions/1">RC-000001'),
    ):
        assert code in (await visitor.get(f"/companies/1/{path}")).text
    other = await visitor.get("/companies/1/sales-orders/1")
    assert "RT-000001" not in other.text
    held = other.text[other.text.index("<h2>Stock</h2>") :]
    assert '<a href="/companies/1/stock?sales_order=SO-000001">All</a>' in held
    assert first_cells(await visitor.get("/companies/1/stock?sales_order=SO-000001")) == ["A Alpha"]
    assert first_cells(await visitor.get("/companies/1/stock?sales_order=SO-000002")) == [], "it has left"
    assert "<h2>Stock</h2>" not in (await visitor.get("/companies/1/sales-orders/2")).text
