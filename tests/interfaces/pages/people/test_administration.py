"""Admins manage companies and operators on the pages, each within the role; and the rules of every list of the
administration.
"""

from urllib.parse import urlencode

import pytest

from tests.interfaces.pages.administering import audit, errors, signed_in_as
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import EMAIL, NOTHING, rows, text_of
from tests.interfaces.pages.visitor import Visitor
from wmsd.contract.access import ABILITIES, MODULES
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION


@pytest.mark.parametrize("resource", ADMINISTRATION, ids=lambda each: each.name)
async def test_each_list_is_shown_and_is_a_file(admin: Visitor, resource: Resource) -> None:
    seen = await admin.get(f"/admin/{resource.name}")
    assert (seen.status, seen.heading) == (200, resource.title)
    file = await admin.get(f"/admin/{resource.name}.csv")
    assert (file.status, file.headers["Content-Type"]) == (200, "text/csv; charset=utf-8")


async def test_a_company_is_made_with_all_modules_and_changed(admin: Visitor) -> None:
    done = await sent(admin, "/admin/companies/new", code="NOVA", name="Nova")
    assert (done.status, done.goes_to) == (303, "/admin/companies/3?done=new")
    page = await admin.get("/companies/3/articles")
    assert (page.status, page.heading) == (200, "Articles")
    typed = form_of(await admin.get("/admin/companies/3/change"))
    assert {name.removeprefix("modules:") for name in typed if name.startswith("modules:")} == set(MODULES)
    typed.pop("modules:stock")
    changed = await admin.post(
        "/admin/companies/3/change", {**typed, "name": "Nova Logistics", "requests_per_minute": "90"}
    )
    assert changed.status == 303, changed.text
    assert (await admin.get("/companies/3/stock")).status == 403
    assert (await audit(admin))[0][1:] == [
        "company.change",
        "NOVA",
        "127.0.0.1",
        "Name: Nova → Nova Logistics Modules: api, articles, inbound, outbound, returns, stock, "
        f"webhooks → api, articles, inbound, outbound, returns, webhooks Requests per minute: {NOTHING} "
        "→ 90",
    ]


@pytest.mark.parametrize("search", ["łódź ø", "Ło\u0301dz\u0301 O", "LODZ o"])
async def test_companies_and_users_are_found_by_letters_beyond_ascii(admin: Visitor, search: str) -> None:
    await sent(admin, "/admin/companies/new", code="LODZ1", name="Łódź Øst")
    await sent(
        admin, "/admin/users/new", email="l@example.com", name="Łódź Øst", role="member", company_codes="ACME"
    )
    for path, name in (
        ("/admin/companies", "LODZ1"),
        ("/admin/users", "l@example.com"),
        ("/today", "Company LODZ1"),
    ):
        found = await admin.get(f"{path}?{urlencode({'search': search})}")
        assert [cells[0].replace("Łódź Øst", "Company LODZ1") for cells in rows(found)] == [name], path
        assert rows(await admin.get(f"{path}?search=lodz+x")) in ([], [["Nothing"]]), path


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ac me!", "Code may contain only letters, digits, -, _ and ."),
        ("A,B", "Code may contain only letters, digits, -, _ and ."),
        ("acme", "Code differs from the code of company ACME only in capital letters: choose a different code."),
        ("ACME", "Code is taken by another company."),
    ],
)
async def test_a_code_that_people_would_mistake_is_not_given(admin: Visitor, code: str, message: str) -> None:
    companies = rows(await admin.get("/admin/companies"))
    assert await errors(await sent(admin, "/admin/companies/new", code=code, name="Acme")) == [message]
    assert await errors(await sent(admin, "/admin/companies/2/rename", code=code)) == [message]
    assert rows(await admin.get("/admin/companies")) == companies


async def test_a_code_from_before_goes_on_and_may_change_its_capital_letters(admin: Visitor) -> None:
    platform = admin.world.installation.platform
    await platform.write(lambda tx: tx.execute("UPDATE companies SET code = 'ot her!' WHERE code = 'OTHER'"))
    assert (await sent(admin, "/admin/companies/2/change", name="Renamed")).status == 303
    assert (await sent(admin, "/admin/companies/1/rename", code="Acme")).status == 303
    assert [cells[:2] for cells in rows(await admin.get("/admin/companies"))] == [
        ["Acme", "Company ACME"],
        ["ot her!", "Renamed"],
    ]
    assert (await sent(admin, "/admin/companies/new", code="Șantier_2.b-1", name="Site")).status == 303


async def test_only_a_platform_admin_makes_companies(lead: Visitor) -> None:
    assert [cells[0] for cells in rows(await lead.get("/admin/companies"))] == ["OTHER"]
    assert (await lead.get("/admin/companies/1")).status == 404
    assert "/admin/companies/new" not in (await lead.get("/admin/companies")).text
    token = (await lead.get("/admin/users/new")).form_token
    refused = await lead.post("/admin/companies/new", {"form_token": token, "code": "NOVA", "name": "Nova"})
    assert refused.status == 403
    assert "Only a platform admin may do this." in refused.text
    admin = await signed_in_as(lead.world, EMAIL)
    assert [cells[0] for cells in rows(await admin.get("/admin/companies"))] == ["ACME", "OTHER"]


async def test_a_company_belongs_to_an_operator(admin: Visitor) -> None:
    assert (await sent(admin, "/admin/operators/new", code="HUB", name="Hub")).status == 303
    path = "/admin/companies/1/change"
    refused = await sent(admin, path, operator_code="NONE")
    assert await errors(refused) == ["Operator is not an operator of this installation."]
    assert (await sent(admin, path, operator_code="HUB")).status == 303
    assert [cells[0] for cells in rows(await admin.get("/admin/companies?operator_code=HUB"))] == ["ACME"]
    assert (await sent(admin, "/admin/operators/1/change", sandbox="on")).status == 303
    assert (await admin.world.send("GET", "/api/stock")).headers["X-RateLimit-Limit"] == "12"
    assert (await sent(admin, path, operator_code="")).status == 303
    assert rows(await admin.get("/admin/companies?operator_code=HUB")) == []


async def test_what_somebody_else_has_changed_is_not_overwritten(admin: Visitor) -> None:
    path = "/admin/companies/1/change"
    first, second = form_of(await admin.get(path)), form_of(await admin.get(path))
    assert (await admin.post(path, {**first, "name": "First"})).status == 303
    refused = await admin.post(path, {**second, "name": "Second"})
    assert refused.status == 412
    assert "Another user changed this record after you opened the form." in refused.text


async def test_every_ability_and_module_says_what_it_opens(admin: Visitor) -> None:
    users, companies = await admin.get("/admin/users/new"), await admin.get("/admin/companies/new")
    assert f"stock:read {ABILITIES['stock:read']}" in text_of(users.text)
    assert f"inbound {MODULES['inbound']}" in text_of(companies.text)


async def test_a_form_that_is_sent_twice_is_done_once(admin: Visitor) -> None:
    fields = form_of(await admin.get("/admin/tokens/new")) | {"name": "Twice", "abilities:stock:read": "on"}
    wrong = await admin.post("/admin/tokens/new", {**fields, "days": "x"})
    assert wrong.status == 422
    first, second = await admin.post("/admin/tokens/new", fields), await admin.post("/admin/tokens/new", fields)
    assert (first.status, second.status) == (200, 409)
    assert "This form was already sent" in second.text
    assert [cells[0] for cells in rows(await admin.get("/admin/tokens"))].count("Twice") == 1
