"""Lists downloaded as files for an import, and imported again without a change."""

import csv
import io
import re

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_import_files import looked_at, words
from tests.support.shop import Shop
from tests.support.world import PASSWORD
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.pages.records.downloads import EXPORTS

FOR_IMPORT = "format=import"
EMPTY = ("counts", "packaging-movements", "packaging-types", "purchase-orders", "receptions", "returns")
"""The kinds of which the shop has no records."""


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in at a company with an order in two rows, and a name that looks like a formula."""
    visitor = await signed_in(shop.world)
    world = shop.world
    await world.call("PATCH", "/api/articles/2", {"client_id": 1, "name": "=1+1"}, events=["article.updated"])
    body = {
        "partner_id": 1,
        "warehouse_id": 1,
        "external_ref": "SHOP-1",
        "ship_to": {"city": "Cluj"},
        "lines": [{"article_id": 1, "quantity": 1.125}, {"article_id": 2, "quantity": 1}],
    }
    made = await world.send("POST", "/api/sales-orders", body)
    assert made.status == 201, made.body
    return visitor


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_each_list_with_a_kind_can_be_taken_away() -> None:
    assert set(EXPORTS) == {
        *("articles", "clients", "partners", "warehouses", "stock", "packaging-movements"),
        *("sales-orders", "purchase-orders", "receptions", "returns", "counts"),
    }


@pytest.mark.parametrize("name", sorted(EXPORTS))
async def test_a_list_can_be_imported_again_and_changes_nothing(visitor: Visitor, name: str) -> None:
    listed = await visitor.get(f"/companies/1/{name}")
    assert f'href="/companies/1/{name}.csv?{FOR_IMPORT}">Download for import' in listed.text
    file = await visitor.get(f"/companies/1/{name}.csv?{FOR_IMPORT}")
    assert (file.status, file.text.splitlines()[0]) == (200, ",".join(KINDS[name].columns))
    assert f'filename="{name}-for-import-ACME-' in file.headers["Content-Disposition"]
    _, seen = await looked_at(visitor, name, file.text)
    unchanged = re.search("0 would be created 0 would be changed [1-9][0-9]* stay as they are", words(seen))
    assert (
        (unchanged is None)
        == ("The file has only the line that names the columns" in words(seen))
        == (name in EMPTY)
    ), words(seen)


async def test_it_has_the_filters_of_the_list_and_codes_in_the_place_of_ids(visitor: Visitor) -> None:
    (found,) = table((await visitor.get(f"/companies/1/articles.csv?code=B&{FOR_IMPORT}")).text)
    assert (found["code"], found["name"], found["client_code"]) == ("B", "'=1+1", "C1")
    orders = table((await visitor.get(f"/companies/1/sales-orders.csv?{FOR_IMPORT}")).text)
    assert [
        (each["external_ref"], each["article_code"], each["quantity"], each["ship_to.city"]) for each in orders
    ] == [
        ("SHOP-1", "A", "1.1250", "Cluj"),
        ("SHOP-1", "B", "1", "Cluj"),
    ]
    link = (await visitor.get("/companies/1/articles?code=B")).text
    assert f'href="/companies/1/articles.csv?code=B&amp;{FOR_IMPORT}"' in link


async def test_a_list_of_several_parts_is_whole(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wmsd.interfaces.pages.records.downloads.RECORDS_AT_ONCE", 1)
    found = table((await visitor.get(f"/companies/1/articles.csv?{FOR_IMPORT}")).text)
    assert [each["code"] for each in found] == ["A", "B", "OLD"]


async def test_who_may_not_import_takes_away_the_plain_list_only(visitor: Visitor) -> None:
    await visitor.world.new_user("member@example.com", "member", ["ACME"], ["*"])
    member = Visitor(visitor.world)
    await member.sign_in("member@example.com", PASSWORD)
    listed = await member.get("/companies/1/articles")
    assert ("Download as CSV" in listed.text, "Download for import" in listed.text) == (True, False)
    assert (await member.get(f"/companies/1/articles.csv?{FOR_IMPORT}")).status == 403
    assert (await member.get("/companies/1/articles.csv")).status == 200
    await visitor.world.set_module("ACME", "outbound", False)
    assert (await visitor.get(f"/companies/1/sales-orders.csv?{FOR_IMPORT}")).status == 403


async def test_a_list_without_a_kind_stays_as_it_is(visitor: Visitor) -> None:
    assert "Download for import" not in (await visitor.get("/companies/1/events")).text
    assert (await visitor.get(f"/companies/1/events.csv?{FOR_IMPORT}")).status == 404
    assert "Download for import" not in (await visitor.get("/admin/users")).text
    assert (await visitor.get(f"/admin/users.csv?{FOR_IMPORT}")).status == 404
