"""The search box above every page of a company, and the suggestions in form fields as a user types."""

import json
import unicodedata
from urllib.parse import quote, urlencode

import pytest

from tests.interfaces.pages.administering import signed_in_as
from tests.interfaces.pages.records.test_browse import SCRIPT, rows, signed_in
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.request_history.keeping import id_of
from tests.support.shop import Shop
from wmsd.warehouse.search.search_store import index_changes

SEARCH = "/companies/1/search"


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in a platform admin at a shop with an order."""
    await shop.order()
    return await signed_in(shop.world)


async def look_up(visitor: Visitor, text: str) -> Seen:
    return await visitor.get(f"{SEARCH}?text={text}")


async def test_the_box_is_above_every_page_of_a_company(visitor: Visitor) -> None:
    for page in ("articles", "sales-orders/new", "requests", "stock"):
        seen = await visitor.get(f"/companies/1/{page}")
        assert 'action="/companies/1/search"' in seen.text or seen.status == 404, page
    assert 'action="/search"' in (await visitor.get("/today")).text


async def test_a_single_exact_match_opens(visitor: Visitor) -> None:
    assert (await look_up(visitor, "so-000001")).goes_to == "/companies/1/sales-orders/1"
    refused = await visitor.world.send("GET", "/api/articles/999")
    assert (await look_up(visitor, id_of(refused))).goes_to == f"/companies/1/requests/{id_of(refused)}"


async def test_several_matches_are_a_list_with_what_they_are_and_where_it_was_found(visitor: Visitor) -> None:
    body = {"code": "Z-1", "name": "Zinc", "external_ref": "web/991"}
    await visitor.world.call("POST", "/api/articles", body, status=201, events=["article.created"])
    assert rows(await look_up(visitor, "b991")) == [["Z-1", "Articles", "Zinc", "", "External reference: web/991"]]
    codes = [row[0] for row in rows(await look_up(visitor, "SO-"))]
    assert codes[:1] == ["SO-000001"]


async def test_nothing_found_says_what_to_try(visitor: Visitor) -> None:
    seen = await look_up(visitor, "no such thing")
    assert seen.status == 200
    assert "No record matches." in seen.text
    assert "Type a code, a name" in (await visitor.get(SEARCH)).text


@pytest.mark.parametrize(
    "text", [SCRIPT, '"' * 70, "a" * 500, "%00", "%22%20OR%20*", "NEAR(", "\u202e%F0%9F%92%A9"]
)
async def test_hostile_texts_find_nothing_and_break_nothing(visitor: Visitor, text: str) -> None:
    seen = await look_up(visitor, text)
    assert seen.status in (200, 422)
    assert SCRIPT not in seen.text


async def test_a_member_finds_only_what_it_may_list(shop: Shop) -> None:
    await shop.order()
    world = shop.world
    await world.new_user("orders@example.com", "member", ["ACME"], ["sales-orders:read"])
    await world.new_user("stock@example.com", "member", ["ACME"], ["stock:read"])
    orders = await signed_in_as(world, "orders@example.com")
    stock = await signed_in_as(world, "stock@example.com")
    assert (await look_up(orders, "SO-000001")).goes_to == "/companies/1/sales-orders/1"
    assert "No record matches." in (await look_up(stock, "SO-000001")).text


async def test_all_companies_are_searched_for_exact_codes(visitor: Visitor) -> None:
    world = visitor.world
    other = await world.new_company("OTHER")
    for company in (1, other):
        body = {"code": "SHARED", "name": "In both"}
        assert (await world.send("POST", "/api/articles", body, company=company)).status == 201
    assert (await visitor.get("/search?text=SO-000001")).goes_to == "/companies/1/sales-orders/1"
    found = rows(await visitor.get("/search?text=shared"))
    assert sorted(found) == [
        ["SHARED", "Company ACME", "Articles", "In both", ""],
        ["SHARED", "Company OTHER", "Articles", "In both", ""],
    ]
    assert "No company has a record" in (await visitor.get("/search?text=share")).text


async def test_a_member_searches_its_own_companies_only(visitor: Visitor) -> None:
    world = visitor.world
    other = await world.new_company("OTHER")
    body = {"code": "HIDDEN", "name": "Of another company"}
    assert (await world.send("POST", "/api/articles", body, company=other)).status == 201
    await world.new_user("one@example.com", "member", ["ACME"], ["articles:read"])
    one = await signed_in_as(world, "one@example.com")
    assert "No company has a record" in (await one.get("/search?text=HIDDEN")).text
    assert "No company has a record" in (await one.get("/search?text=SO-000001")).text
    assert (await one.get("/search?text=A")).goes_to == "/companies/1/articles/1"


async def choices(visitor: Visitor, kind: str, text: str, **more: str) -> list[dict[str, object]]:
    query = urlencode({"text": text, **more})
    seen = await visitor.get(f"{SEARCH}/{kind}?{query}")
    assert seen.status == 200, seen.text
    return list(json.loads(seen.text))


async def test_a_field_lists_what_somebody_may_mean(visitor: Visitor) -> None:
    alpha = {"code": "A", "name": "Alpha", "unit": "pcs", "has_any": True}
    assert await choices(visitor, "articles", "alp", warehouse="MAIN") == [{**alpha, "available": "17"}]
    assert await choices(visitor, "articles", "alp", warehouse="EAST") == [{**alpha, "available": "5"}]
    assert await choices(visitor, "articles", "alp") == [{**alpha, "available": "22"}]
    assert [each["code"] for each in await choices(visitor, "partners", "first")] == ["P1"]
    assert await choices(visitor, "articles", "") == []


@pytest.mark.parametrize("is_indexed", [False, True], ids=["new", "indexed"])
@pytest.mark.parametrize("name", ["Nguyễn Łódź", unicodedata.normalize("NFD", "Nguyễn Łódź")], ids=["NFC", "NFD"])
async def test_letters_beyond_ascii_are_found_in_each_form(visitor: Visitor, name: str, is_indexed: bool) -> None:
    world = visitor.world
    await world.import_csv("articles", f"code,name\nCRE,{name}\n")
    await world.import_csv("partners", f"code,name,type\nCRE,{name},CLIENT\n")
    database = await world.database()
    while is_indexed and await database.write(index_changes, is_quiet=True):
        pass
    for typed in ("Nguyễn", unicodedata.normalize("NFD", "Nguyễn"), "nguyen", "łódź", "lodz", "nguyễn łódź"):
        assert [row[0] for row in rows(await look_up(visitor, quote(typed)))] == ["CRE", "CRE"], typed
        for kind in ("articles", "partners"):
            assert [each["code"] for each in await choices(visitor, kind, typed)] == ["CRE"], typed
        for list_of in ("partners?name=", "articles?search="):
            found = await visitor.get(f"/companies/1/{list_of}{quote(typed)}")
            assert [row[0] for row in rows(found)] == ["CRE"], (list_of, typed)


async def test_what_is_switched_off_is_no_choice(visitor: Visitor) -> None:
    assert await choices(visitor, "articles", "old") == []
    assert await choices(visitor, "partners", "gone") == []


async def test_what_is_switched_off_leaves_no_room_to_nothing_else(visitor: Visitor) -> None:
    world = visitor.world
    await world.import_csv("articles", "code,name\nGOLD,Lantern gold\n")
    rows_of_file = "".join(f"OFF-{number},Lantern off,false\n" for number in range(40))
    await world.import_csv("articles", f"code,name,active\n{rows_of_file}")
    database = await world.database()
    while await database.write(index_changes, is_quiet=True):
        pass
    assert [each["code"] for each in await choices(visitor, "articles", "lantern")] == ["GOLD"]


async def test_what_is_deleted_leaves_no_room_to_nothing_else(visitor: Visitor) -> None:
    world = visitor.world
    body = {"partner_id": 1, "warehouse_id": 1, "items": [{"article_id": 1, "quantity": 1}]}
    ids = [
        (await world.send("POST", "/api/purchase-orders", {**body, "external_ref": f"web-{number}"})).id
        for number in range(33)
    ]
    database = await world.database()
    while await database.write(index_changes, is_quiet=True):
        pass
    for each in ids[1:]:
        assert (await world.send("DELETE", f"/api/purchase-orders/{each}")).status == 204
    assert "/companies/1/purchase-orders/1" in (await look_up(visitor, "web")).text


async def test_a_text_in_brackets_is_found_like_any_other(visitor: Visitor) -> None:
    body = {"code": "BOX-2", "name": "[discontinued]"}
    made = await visitor.world.send("POST", "/api/articles", body)
    assert (await look_up(visitor, "BOX-2")).goes_to == f"/companies/1/articles/{made.id}"
    assert (await visitor.get("/search?text=BOX-2")).goes_to == f"/companies/1/articles/{made.id}"


async def test_a_name_is_told_to_whoever_may_read_it(shop: Shop) -> None:
    await shop.order()
    world = shop.world
    await world.new_user("orders@example.com", "member", ["ACME"], ["sales-orders:read"])
    await world.new_user("both@example.com", "member", ["ACME"], ["sales-orders:read", "partners:read"])
    for email, says in (("orders@example.com", ""), ("both@example.com", "First")):
        visitor = await signed_in_as(world, email)
        ((code, _kind, name, *_others),) = rows(await look_up(visitor, "SO-0000"))
        assert (code, name) == ("SO-000001", says), email


async def test_choices_are_those_that_the_person_may_read(shop: Shop) -> None:
    reader = await signed_in(shop.world, "ACME", abilities=["articles:read", "sales-orders:write"])
    assert [each["available"] for each in await choices(reader, "articles", "alp")] == [None]
    assert await choices(reader, "partners", "first") == []
    assert (await reader.get(f"{SEARCH}/stock?text=alp")).status == 404
