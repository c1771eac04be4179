"""Links from a page of a company to the same page of another company."""

import re

import pytest

from tests.interfaces.pages.administering import signed_in_as
from tests.interfaces.pages.kit.test_routing import ways_on
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import World
from wmsd.interfaces.pages.kit.workplace import MOST_OTHERS

OTHERS = re.compile(r'<details class="others"><summary>(.*?)</summary>(.*?)</details>', re.DOTALL)


def others(seen: Seen) -> dict[str, str]:
    """Return the address of each offered company, by its text."""
    assert seen.status == 200, seen.text
    found = OTHERS.search(seen.text)
    return (
        {}
        if found is None
        else {text_of(name): to for to, name in re.findall(r'href="(.*?)">(.*?)</a>', found[2])}
    )


async def name_first(world: World, name: str) -> None:
    sql = "UPDATE companies SET name = ? WHERE id = 1"
    await world.installation.platform.write(lambda tx: tx.execute(sql, (name,)))


@pytest.fixture
async def admin(world: World) -> Visitor:
    """Sign in a platform admin, with the companies ACME (1), BETA (2) and ALFA (3)."""
    await world.new_company("BETA")
    await world.new_company("ALFA")
    return await signed_in(world)


@pytest.mark.parametrize("page", ["sales-orders", "stock", "webhooks", "requests"])
async def test_a_list_leads_to_the_same_list_of_the_others(admin: Visitor, page: str) -> None:
    found = others(await admin.get(f"/companies/1/{page}"))
    assert list(found.items()) == [
        ("Company ALFA", f"/companies/3/{page}"),
        ("Company BETA", f"/companies/2/{page}"),
    ]
    for address in found.values():
        assert (await admin.get(address)).status == 200


async def test_what_is_below_a_list_leads_to_that_list(admin: Visitor) -> None:
    found = others(await admin.get("/companies/1/articles/new"))
    assert found["Company BETA"] == "/companies/2/articles"


async def test_only_companies_that_the_person_may_use_are_named(admin: Visitor) -> None:
    world = admin.world
    await world.new_user("two@example.com", "member", ["ACME", "BETA"], ["articles:read"])
    await world.new_user("one@example.com", "member", ["BETA"], ["articles:read"])
    two, one = await signed_in_as(world, "two@example.com"), await signed_in_as(world, "one@example.com")
    assert others(await two.get("/companies/1/articles")) == {"Company BETA": "/companies/2/articles"}
    seen = await one.get("/companies/2/articles")
    assert others(seen) == {}
    assert "Another company" not in seen.text


async def test_a_company_that_is_being_deleted_is_not_named(admin: Visitor) -> None:
    sql = "INSERT INTO company_deletions (company_id, code, begun_at) VALUES (2, 'BETA', '2026-01-01T00:00:00Z')"
    await admin.world.installation.platform.write(lambda tx: tx.execute(sql))
    assert list(others(await admin.get("/companies/1/articles"))) == ["Company ALFA"]


async def test_names_are_escaped(admin: Visitor) -> None:
    await name_first(admin.world, "<b>&")
    seen = await admin.get("/companies/2/articles")
    assert "<b>&" not in seen.text
    assert others(seen)["<b>&"] == "/companies/1/articles"


async def test_of_many_the_first_are_named_and_today_finds_the_others(world: World) -> None:
    for number in range(MOST_OTHERS + 1):
        await world.new_company(f"N{number:02}")
    visitor = await signed_in(world)
    found = others(await visitor.get("/companies/1/articles"))
    assert list(found)[:-1] == [f"Company N{number:02}" for number in range(MOST_OTHERS)]
    assert list(found)[-1] == "More companies on Today"
    assert found["More companies on Today"] == "/today#search"
    assert 'id="search"' in (await visitor.get("/today")).text


async def test_with_as_many_as_are_named_nothing_is_left_to_find(world: World) -> None:
    for number in range(MOST_OTHERS):
        await world.new_company(f"N{number:02}")
    visitor = await signed_in(world)
    assert list(others(await visitor.get("/companies/1/articles")))[-1] == f"Company N{MOST_OTHERS - 1:02}"


async def test_it_speaks_romanian(admin: Visitor) -> None:
    seen = await admin.get("/companies/1/articles", {"Accept-Language": "ro"})
    found = OTHERS.search(seen.text)
    assert found is not None
    assert found[1] == "Altă companie"


async def test_where_its_module_is_off_the_other_company_s_first_page_is_led_to(admin: Visitor) -> None:
    await admin.world.set_module("BETA", "outbound", enabled=False)
    found = others(await admin.get("/companies/1/sales-orders"))
    assert found == {"Company ALFA": "/companies/3/sales-orders", "Company BETA": "/companies/2"}
    assert (await admin.get("/companies/2")).status == 303  # to the first list


async def test_codes_tell_companies_of_the_same_name_apart(admin: Visitor) -> None:
    await name_first(admin.world, "Company BETA")
    assert list(others(await admin.get("/companies/1/stock"))) == ["Company ALFA", "Company BETA (BETA)"]
    assert list(others(await admin.get("/companies/3/stock"))) == ["Company BETA (ACME)", "Company BETA (BETA)"]
    for number, code in ((1, "ACME"), (2, "BETA")):
        assert f"<h2>Company BETA ({code})</h2>" in (await admin.get(f"/companies/{number}/stock")).text
    today = (await admin.get("/today")).text
    assert all(f">{name}</a>" in today for name in ("Company BETA (ACME)", "Company BETA (BETA)", "Company ALFA"))


async def test_where_a_module_is_off_a_site_admin_is_led_to_the_modules(admin: Visitor) -> None:
    await admin.world.set_module("BETA", "outbound", enabled=False)
    seen = await admin.get("/companies/2/sales-orders")
    assert (seen.status, "The module outbound is off for this company." in seen.text) == (403, True)
    assert ways_on(seen)[0] == ("/admin/companies/2", "The company and its modules")
    assert "Ask a platform admin" not in seen.text
    assert (await admin.get("/admin/companies/2")).status == 200
    await admin.world.new_user("two@example.com", "company-admin", ["BETA"])
    other = await (await signed_in_as(admin.world, "two@example.com")).get("/companies/2/sales-orders")
    assert (other.status, "Ask a platform admin" in other.text) == (403, True)
    assert "/admin/companies/2" not in other.text
