"""Admins look after people, companies, operators and tokens at the pages, each as far as the role goes."""

import asyncio
import html
import re
import threading
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.interfaces.pages.test_acting import form_of, sent
from tests.interfaces.pages.test_browsing import EMAIL, NOTHING, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import PASSWORD, World
from wmsd.accounts import actions as accounts
from wmsd.accounts import token_administration
from wmsd.base.access import ABILITIES, MODULES
from wmsd.interfaces.pages.administration import ADMINISTRATION
from wmsd.interfaces.pages.resources import Resource

NEW_PASSWORD = "correct horse battery staple"
MEMBER = "ion@example.com"
LEAD = "lead@example.com"
SHOWN_ONCE = re.compile(r'<pre class="code" id="(\w+)".*?>(.*?)</pre>', re.DOTALL)


@pytest.fixture
async def admin(world: World) -> Visitor:
    """A platform admin, signed in. There are the companies ACME and OTHER."""
    await world.new_company("OTHER")
    return await signed_in(world)


@pytest.fixture
async def lead(admin: Visitor) -> Visitor:
    """The admin of OTHER, signed in."""
    await admin.world.new_user(LEAD, "company-admin", ["OTHER"])
    return await signed_in_as(admin.world, LEAD)


async def signed_in_as(world: World, email: str, password: str = PASSWORD) -> Visitor:
    visitor = Visitor(world)
    seen = await visitor.sign_in(email, password)
    assert seen.status == 303, seen.text
    return visitor


def shown_once(seen: Seen) -> dict[str, str]:
    assert seen.status == 200, seen.text
    return {name: html.unescape(text) for name, text in SHOWN_ONCE.findall(seen.text)}


async def invited(visitor: Visitor, email: str = MEMBER, **typed: str) -> str:
    """The link for a new user."""
    fields = {"email": email, "name": "Ion", "role": "member", "company_codes": "OTHER", **typed}
    return shown_once(await sent(visitor, "/admin/users/new", **fields))["link"]


async def chosen(visitor: Visitor, link: str, password: str = NEW_PASSWORD, again: str = NEW_PASSWORD) -> Seen:
    (code,) = parse_qs(urlsplit(link).query)["code"]
    return await visitor.post("/welcome", {"code": code, "password": password, "again": again})


async def id_of(visitor: Visitor, email: str) -> int:
    seen = await visitor.get(f"/admin/users?search={email}")
    (found,) = re.findall(rf'href="/admin/users/(\d+)">{email}', seen.text)
    return int(found)


async def errors(seen: Seen) -> list[str]:
    assert seen.status in (422, 403), seen.text
    return [text_of(each) for each in re.findall(r'<p class="error".*?>(.*?)</p>', seen.text)]


async def audit(visitor: Visitor) -> list[list[str]]:
    """The last entries, from the newest: actor, action, subject, address and what has changed."""
    return [cells[1:] for cells in rows(await visitor.get("/admin/audit"))]


@pytest.mark.parametrize("resource", ADMINISTRATION, ids=lambda each: each.name)
async def test_each_list_is_shown_and_is_a_file(admin: Visitor, resource: Resource) -> None:
    seen = await admin.get(f"/admin/{resource.name}")
    assert (seen.status, seen.heading) == (200, resource.title)
    file = await admin.get(f"/admin/{resource.name}.csv")
    assert (file.status, file.headers["Content-Type"]) == (200, "text/csv; charset=utf-8")


async def test_somebody_is_invited_chooses_a_password_and_signs_in(admin: Visitor) -> None:
    link = await invited(admin, **{"abilities:stock:read": "on"})
    assert link.startswith(f"{admin.world.base_url}/welcome?code=")
    stranger = Visitor(admin.world)
    welcome = await stranger.get(link.removeprefix(admin.world.base_url))
    assert (welcome.status, welcome.heading) == (200, "Welcome, Ion")
    assert MEMBER in welcome.text
    done = await chosen(stranger, link)
    assert (done.status, done.goes_to) == (303, "/sign-in?done=password")
    assert "Your password is set." in (await stranger.get(done.goes_to)).text
    member = await signed_in_as(admin.world, MEMBER, NEW_PASSWORD)
    assert [cells[0] for cells in rows(await member.get("/today"))] == ["Company OTHER"]


async def test_nobody_signs_in_before_a_password_is_chosen(admin: Visitor) -> None:
    await invited(admin)
    for guess in ("!", "", NEW_PASSWORD):
        assert (await Visitor(admin.world).sign_in(MEMBER, guess)).status in (401, 422)


async def test_a_link_works_once(admin: Visitor) -> None:
    link = await invited(admin)
    assert (await chosen(admin, link)).status == 303
    again = await chosen(admin, link, "another long pass phrase", "another long pass phrase")
    assert (again.status, again.heading) == (404, "There is nothing here")
    assert "This link was used already or is no longer valid. Ask an admin for a new one." in again.text
    await signed_in_as(admin.world, MEMBER, NEW_PASSWORD)


async def test_a_new_link_replaces_the_one_before(admin: Visitor) -> None:
    first = await invited(admin)
    path = f"/admin/users/{await id_of(admin, MEMBER)}/link"
    second = shown_once(await sent(admin, path))["link"]
    assert (await chosen(admin, first)).status == 404
    assert (await chosen(admin, second)).status == 303


async def test_a_link_ends_after_a_week(admin: Visitor) -> None:
    link = await invited(admin)
    admin.world.clock.advance(7 * 24 * 3600)
    assert (await chosen(admin, link)).status == 404


async def test_a_forgotten_password_stays_until_the_link_is_used(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"])
    before = await signed_in_as(admin.world, MEMBER)
    link = shown_once(await sent(admin, f"/admin/users/{await id_of(admin, MEMBER)}/link"))["link"]
    await signed_in_as(admin.world, MEMBER)
    assert (await chosen(Visitor(admin.world), link)).status == 303
    assert (await before.get("/today")).status == 303
    assert (await Visitor(admin.world).sign_in(MEMBER, PASSWORD)).status == 401


@pytest.mark.parametrize(
    ("password", "again", "message"),
    [
        ("short", "short", "It must have from 10 to 1024 characters."),
        (
            "ion@example.com",
            "ion@example.com",
            "It is too easy to guess: choose four words that do not belong together.",
        ),
        (NEW_PASSWORD, "something else", "It is not the same as the password."),
    ],
)
async def test_a_password_that_does_not_do_is_told(
    admin: Visitor, password: str, again: str, message: str
) -> None:
    link = await invited(admin)
    refused = await chosen(admin, link, password, again)
    assert await errors(refused) == [message]
    assert (await chosen(admin, link)).status == 303


@pytest.mark.parametrize("path", ["/welcome", "/welcome?code=", "/welcome?code=%00", "/welcome?code=guess"])
async def test_a_wrong_link_is_told(admin: Visitor, path: str) -> None:
    seen = await Visitor(admin.world).get(path)
    assert seen.status in (404, 422)
    assert "This link" in seen.text


async def test_a_change_counts_from_the_next_request_on(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    member, path = await signed_in_as(admin.world, MEMBER), f"/admin/users/{await id_of(admin, MEMBER)}"
    assert (await member.get("/companies/2/stock")).status == 200
    done = await sent(admin, f"{path}/change", company_codes="ACME", name="Ion Pop")
    assert (done.status, done.goes_to) == (303, f"{path}?done=change")
    assert (await member.get("/companies/2/stock")).status == 404
    assert (await member.get("/companies/1/stock")).status == 200
    assert (await audit(admin))[0] == [
        EMAIL,
        "user.change",
        MEMBER,
        "127.0.0.1",
        f"Name: {MEMBER} → Ion Pop Companies: OTHER → ACME",
    ]


async def test_who_is_shut_out_can_do_nothing_and_comes_in_again(admin: Visitor) -> None:
    world = admin.world
    await world.new_user(MEMBER, "member", ["ACME"], ["stock:read"])
    member, token = await signed_in_as(world, MEMBER), await world.new_token(MEMBER, ["stock:read"])
    path = f"/admin/users/{await id_of(admin, MEMBER)}"
    assert (await sent(admin, f"{path}/shut-out")).status == 303
    assert (await member.get("/today")).status == 303
    assert (await world.send("GET", "/api/stock", token=token)).status == 401
    assert (await Visitor(world).sign_in(MEMBER, PASSWORD)).status == 401
    assert (await sent(admin, f"{path}/let-in")).status == 303
    await signed_in_as(world, MEMBER)
    assert (await world.send("GET", "/api/stock", token=token)).status == 200


async def test_access_ends_everywhere(admin: Visitor) -> None:
    world = admin.world
    await world.new_user(MEMBER, "member", ["ACME"], ["stock:read"])
    member, token = await signed_in_as(world, MEMBER), await world.new_token(MEMBER, ["stock:read"])
    assert (await sent(admin, f"/admin/users/{await id_of(admin, MEMBER)}/end-access")).status == 303
    assert (await member.get("/today")).status == 303
    assert (await world.send("GET", "/api/stock", token=token)).status == 401
    await signed_in_as(world, MEMBER)


async def test_a_user_is_deleted_and_the_audit_keeps_it(admin: Visitor) -> None:
    world = admin.world
    await world.new_user(MEMBER, "member", ["ACME"], ["stock:read"])
    member, token = await signed_in_as(world, MEMBER), await world.new_token(MEMBER, ["stock:read"])
    number = await id_of(admin, MEMBER)
    done = await sent(admin, f"/admin/users/{number}/delete")
    assert (done.status, done.goes_to) == (303, "/admin/users?done=delete")
    assert "The user is deleted." in (await admin.get(done.goes_to)).text
    assert (await member.get("/today")).status == 303
    assert (await world.send("GET", "/api/stock", token=token)).status == 401
    assert (await admin.get(f"/admin/users/{number}")).status == 404
    assert (await audit(admin))[0][:3] == [EMAIL, "user.delete", MEMBER]


async def test_an_e_mail_address_is_changed(admin: Visitor) -> None:
    world = admin.world
    link = await invited(admin)
    await world.new_user("taken@example.com", "member", ["ACME"])
    path = f"/admin/users/{await id_of(admin, MEMBER)}/email"
    taken = await sent(admin, path, email="Taken@example.com")
    assert (taken.status, "is taken by another user" in taken.text) == (422, True)
    assert (await sent(admin, path, email="Ion.Pop@example.com")).status == 303
    assert (await audit(admin))[0][1:3] == ["user.change", MEMBER]
    assert (await chosen(Visitor(world), link)).status == 404, "the link was sent to the address of before"
    link = shown_once(await sent(admin, f"/admin/users/{await id_of(admin, 'ion.pop@example.com')}/link"))["link"]
    assert (await chosen(Visitor(world), link)).status == 303
    await signed_in_as(world, "ion.pop@example.com", NEW_PASSWORD)


async def test_a_company_admin_changes_no_e_mail_address(lead: Visitor) -> None:
    """Whoever has an address gets what single sign-on gives to it."""
    await lead.world.new_user(MEMBER, "member", ["OTHER"])
    number = await id_of(lead, MEMBER)
    assert "/email" not in (await lead.get(f"/admin/users/{number}")).text
    token = (await lead.get("/admin/users/new")).form_token
    seen = await lead.post(f"/admin/users/{number}/email", {"form_token": token, "email": "x@example.com"})
    assert seen.status in (403, 404)


async def test_two_admins_who_delete_each_other_at_once(admin: Visitor) -> None:
    """One of them stays, whoever comes first."""
    world = admin.world
    await world.new_user("second@example.com", "platform-admin")
    second = await signed_in_as(world, "second@example.com")
    others = re.findall(
        r'href="/admin/users/(\d+)">(.*?)<', (await admin.get("/admin/users?role=platform-admin")).text
    )
    for number, email in others:
        if email not in (EMAIL, "second@example.com"):
            assert (await sent(admin, f"/admin/users/{number}/shut-out")).status == 303
    own, other = await id_of(admin, EMAIL), await id_of(admin, "second@example.com")
    forms = [
        (admin, f"/admin/users/{other}/delete", form_of(await admin.get(f"/admin/users/{other}/delete"))),
        (second, f"/admin/users/{own}/shut-out", form_of(await second.get(f"/admin/users/{own}/shut-out"))),
    ]
    await asyncio.gather(*(visitor.post(path, fields) for visitor, path, fields in forms))
    count = "SELECT count(*) FROM users WHERE role = 'platform-admin' AND disabled_at IS NULL"
    assert await world.installation.platform.read(lambda tx: tx.value(count)) == 1


@pytest.mark.parametrize("act", ["shut-out", "change", "delete"])
async def test_the_last_platform_admin_stays(admin: Visitor, act: str) -> None:
    """The one that the tests' world has is shut out first."""
    others = re.findall(
        r'href="/admin/users/(\d+)">(.*?)<', (await admin.get("/admin/users?role=platform-admin")).text
    )
    for number, email in others:
        if email != EMAIL:
            assert (await sent(admin, f"/admin/users/{number}/shut-out")).status == 303
    path = f"/admin/users/{await id_of(admin, EMAIL)}/{act}"
    refused = await sent(admin, path, **({"role": "member"} if act == "change" else {}))
    assert refused.status == 422
    assert f"must stay as it is: {EMAIL} is the last platform admin" in refused.text
    assert (await admin.get("/admin/users")).status == 200


async def test_rights_are_told_with_their_reasons(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    seen = await admin.get(f"/admin/users/{await id_of(admin, MEMBER)}/rights")
    found = {cells[0]: cells[2:] for cells in rows(seen)}
    assert found["stock:read"] == ["yes", "The user has this ability."]
    assert found["articles:read"] == ["no", "The user lacks this ability."]
    own = await admin.get(f"/admin/users/{await id_of(admin, EMAIL)}/rights")
    assert {cells[2] for cells in rows(own)} == {"yes"}
    assert "A platform admin may do everything, in every company." in own.text


async def test_a_company_admin_sees_the_people_of_its_companies_only(lead: Visitor) -> None:
    world = lead.world
    await world.new_user(MEMBER, "member", ["OTHER"])
    await world.new_user("both@example.com", "member", ["OTHER", "ACME"])
    await world.new_user("nowhere@example.com", "member", [])
    assert [cells[0] for cells in rows(await lead.get("/admin/users"))] == [MEMBER, LEAD]
    admin = await signed_in_as(world, EMAIL)
    for email in ("both@example.com", "nowhere@example.com", EMAIL):
        number = await id_of(admin, email)
        for act in ("", "/rights", "/change", "/link"):
            assert (await lead.get(f"/admin/users/{number}{act}")).status == 404, (email, act)
        token = (await lead.get("/admin/users/new")).form_token
        for act in ("change", "link", "shut-out", "let-in", "end-access"):
            seen = await lead.post(
                f"/admin/users/{number}/{act}", {"form_token": token, "name": "X", "role": "member"}
            )
            assert seen.status == 404, (email, act)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"company_codes": "ACME"}, "Companies ACME is not one of your companies."),
        ({"company_codes": ""}, "Companies must name one of your companies at least."),
        (
            {"role": "platform-admin", "company_codes": ""},
            "Role must not be platform-admin: only a platform admin makes another one.",
        ),
    ],
)
async def test_a_company_admin_gives_no_more_than_it_has(
    lead: Visitor, typed: dict[str, str], message: str
) -> None:
    fields = {"email": MEMBER, "name": "Ion", "role": "member", "company_codes": "OTHER", **typed}
    assert message in await errors(await sent(lead, "/admin/users/new", **fields))
    assert (await Visitor(lead.world).sign_in(MEMBER, PASSWORD)).status == 401
    assert [cells[0] for cells in rows(await lead.get("/admin/users"))] == [LEAD]


async def test_a_wrong_invitation_keeps_what_was_typed(admin: Visitor) -> None:
    refused = await sent(
        admin,
        "/admin/users/new",
        **{"email": EMAIL, "name": "Ion", "role": "member", "company_codes": "NONE", "abilities:stock:read": "on"},
    )
    assert await errors(refused) == [
        "E-mail address is taken by another user.",
        "Companies NONE is not a company of this installation.",
    ]
    assert 'value="Ion"' in refused.text
    assert re.search(r'name="abilities:stock:read" checked', refused.text)


async def test_members_see_their_own_tokens_and_nothing_else(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    await admin.world.new_token(EMAIL)
    member = await signed_in_as(admin.world, MEMBER)
    for resource in ADMINISTRATION:
        seen = await member.get(f"/admin/{resource.name}")
        assert seen.status == (200 if resource.name == "tokens" else 403), resource.name
    assert rows(await member.get("/admin/tokens")) == []
    assert 'href="/admin/users"' not in (await member.get("/today")).text


async def test_a_token_is_made_used_and_revoked(admin: Visitor) -> None:
    world = admin.world
    made = await sent(
        admin, "/admin/tokens/new", **{"name": "Shop", "abilities:stock:read": "on", "company_codes": "ACME"}
    )
    shown = shown_once(made)
    assert shown["line"].startswith(f"curl {world.base_url}/api/user -H 'Authorization: Bearer {shown['token']}'")
    answer = await world.send("GET", "/api/stock", token=shown["token"])
    assert answer.status == 200
    assert (await world.send("GET", "/api/articles", token=shown["token"])).status == 403
    (cells,) = [each for each in rows(await admin.get("/admin/tokens")) if each[0] == "Shop"]
    assert cells[1:4] == [EMAIL, "stock:read", "yes"]
    assert shown["token"] not in (await admin.get("/admin/tokens")).text
    (number,) = re.findall(r'href="/admin/tokens/(\d+)">Shop', (await admin.get("/admin/tokens")).text)
    assert (await sent(admin, f"/admin/tokens/{number}/revoke")).status == 303
    assert (await world.send("GET", "/api/stock", token=shown["token"])).status == 401
    assert [each[1] for each in (await audit(admin))[:2]] == ["token.revoke", "token.create Shop"]


async def test_where_a_token_was_used_is_told_a_minute_later(admin: Visitor) -> None:
    token = await admin.world.new_token(EMAIL)
    await admin.world.send("GET", "/api/stock", token=token)
    await admin.world.installation.access.write_token_uses()
    assert "127.0.0.1" in [cells[7] for cells in rows(await admin.get("/admin/tokens"))]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"days": "4000"}, "Days must be 3650 at the most (tokens.most_days in the settings)."),
        ({"company_codes": "NONE"}, f"Companies NONE is not a company that {EMAIL} may use."),
        ({"user": "nobody@example.com"}, "User is not the e-mail address of an active user whom you manage."),
    ],
)
async def test_a_token_that_cannot_be_made_is_told(admin: Visitor, typed: dict[str, str], message: str) -> None:
    before = len(rows(await admin.get("/admin/tokens")))
    refused = await sent(admin, "/admin/tokens/new", **{"name": "X", "abilities:stock:read": "on", **typed})
    assert await errors(refused) == [message]
    assert len(rows(await admin.get("/admin/tokens"))) == before


async def test_a_token_does_no_more_than_its_user(lead: Visitor) -> None:
    await lead.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    fields = {"name": "X", "user": MEMBER, "abilities:stock:read": "on", "abilities:articles:write": "on"}
    refused = await sent(lead, "/admin/tokens/new", **fields)
    assert refused.status == 403
    assert "This user may not give articles:write." in refused.text


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
        "Name: Nova → Nova Logistics Modules: api, articles, inbound, outbound, returns, stock, webhooks → "
        f"api, articles, inbound, outbound, returns, webhooks Requests a minute: {NOTHING} → 90",
    ]


async def test_only_a_platform_admin_makes_companies(lead: Visitor) -> None:
    assert [cells[0] for cells in rows(await lead.get("/admin/companies"))] == ["OTHER"]
    assert (await lead.get("/admin/companies/1")).status == 404
    assert "/admin/companies/new" not in (await lead.get("/admin/companies")).text
    token = (await lead.get("/admin/users/new")).form_token
    refused = await lead.post("/admin/companies/new", {"form_token": token, "code": "NOVA", "name": "Nova"})
    assert refused.status == 403
    assert "Only a platform admin may do this: everything, in every company." in refused.text
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
    assert "Somebody has changed it since you opened this form." in refused.text


async def test_every_ability_and_module_says_what_it_opens(admin: Visitor) -> None:
    users, companies = await admin.get("/admin/users/new"), await admin.get("/admin/companies/new")
    assert f"stock:read {ABILITIES['stock:read']}" in text_of(users.text)
    assert f"inbound {MODULES['inbound']}" in text_of(companies.text)


async def test_a_link_that_somebody_has_kept_ends_with_other_rights(admin: Visitor, lead: Visitor) -> None:
    """Whoever has invited a user must not come in with what the user may do since."""
    for typed in ({"role": "platform-admin", "company_codes": ""}, {"company_codes": "OTHER\nACME"}):
        email = f"user{len(typed)}@example.com"
        link = await invited(lead, email)
        path = f"/admin/users/{await id_of(admin, email)}/change"
        assert (await sent(admin, path, **typed)).status == 303
        assert (await chosen(lead, link)).status == 404


async def test_a_higher_role_needs_a_new_password(admin: Visitor, lead: Visitor) -> None:
    """Somebody else may have chosen the one of before."""
    assert (await chosen(lead, await invited(lead))).status == 303
    member = await signed_in_as(admin.world, MEMBER, NEW_PASSWORD)
    path = f"/admin/users/{await id_of(admin, MEMBER)}"
    assert (await sent(admin, f"{path}/change", role="platform-admin", company_codes="")).status == 303
    assert (await member.get("/today")).status == 303
    assert (await Visitor(admin.world).sign_in(MEMBER, NEW_PASSWORD)).status == 401
    link = shown_once(await sent(admin, f"{path}/link"))["link"]
    assert (await chosen(admin, link, "another long pass phrase", "another long pass phrase")).status == 303
    promoted = await signed_in_as(admin.world, MEMBER, "another long pass phrase")
    assert (await promoted.get("/admin/operators")).status == 200


async def test_a_token_that_an_admin_made_does_not_grow_with_its_user(admin: Visitor, lead: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    fields = {"name": "X", "user": MEMBER, "abilities:stock:read": "on"}
    token = shown_once(await sent(lead, "/admin/tokens/new", **fields))["token"]
    path = f"/admin/users/{await id_of(admin, MEMBER)}/change"
    assert (await sent(admin, path, company_codes="OTHER\nACME")).status == 303
    answer = await admin.world.send("GET", "/api/companies", token=token, company="")
    assert [each["code"] for each in answer.body["data"]] == ["OTHER"]


async def test_a_form_that_is_sent_twice_is_done_once(admin: Visitor) -> None:
    fields = form_of(await admin.get("/admin/tokens/new")) | {"name": "Twice", "abilities:stock:read": "on"}
    wrong = await admin.post("/admin/tokens/new", {**fields, "days": "x"})
    assert wrong.status == 422
    first, second = await admin.post("/admin/tokens/new", fields), await admin.post("/admin/tokens/new", fields)
    assert (first.status, second.status) == (200, 409)
    assert "This form was sent already" in second.text
    assert [cells[0] for cells in rows(await admin.get("/admin/tokens"))].count("Twice") == 1


async def test_who_sets_a_password_ends_the_link(admin: Visitor) -> None:
    link = await invited(admin)
    platform = admin.world.installation.platform
    await platform.write(lambda tx: accounts.set_password(tx, MEMBER, "hash"))
    assert (await chosen(admin, link)).status == 404


async def test_an_invited_admin_who_never_came_is_no_last_admin(admin: Visitor) -> None:
    for number, email in re.findall(r'href="/admin/users/(\d+)">(.*?)<', (await admin.get("/admin/users")).text):
        if email != EMAIL:
            assert (await sent(admin, f"/admin/users/{number}/shut-out")).status == 303
    await invited(admin, role="platform-admin", company_codes="")
    refused = await sent(admin, f"/admin/users/{await id_of(admin, EMAIL)}/shut-out")
    assert (refused.status, "is the last platform admin" in refused.text) == (422, True)


async def test_a_user_has_so_many_tokens_at_most(admin: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_administration, "MOST_TOKENS", 2)
    fields = {"name": "X", "abilities:stock:read": "on"}
    for _ in range(2):
        shown_once(await sent(admin, "/admin/tokens/new", **fields))
    assert await errors(await sent(admin, "/admin/tokens/new", **fields)) == [
        f"Name cannot be given: {EMAIL} has 2 tokens already; revoke some first."
    ]


async def test_a_password_that_changes_while_it_is_checked_opens_nothing(
    admin: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, checked, goes_on = admin.world, threading.Event(), threading.Event()
    verify = world.installation.passwords._verify

    def slowly(password_hash: str | None, password: str) -> bool:
        good = verify(password_hash, password)
        checked.set()
        goes_on.wait(20)
        return good

    monkeypatch.setattr(world.installation.passwords, "_verify", slowly)
    visitor = Visitor(world)
    signing_in = asyncio.ensure_future(visitor.sign_in(EMAIL, PASSWORD))
    await asyncio.to_thread(checked.wait)
    await world.installation.platform.write(lambda tx: accounts.set_password(tx, EMAIL, "hash"))
    goes_on.set()
    assert (await signing_in).status == 401
    assert visitor.cookies == {}


async def test_script_in_what_people_are_called_is_text(admin: Visitor) -> None:
    script = "<script>alert(1)</script>"
    link = await invited(admin, name=script)
    for path in (
        "/admin/users",
        f"/admin/users/{await id_of(admin, MEMBER)}/rights",
        link.removeprefix(admin.world.base_url),
    ):
        assert "<script>" not in (await admin.get(path)).text, path
