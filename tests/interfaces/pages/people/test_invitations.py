"""A user is invited, chooses a password by the link, and signs in: once, in time, and with no more rights than the
invitation granted.
"""

import asyncio
import re
import threading

import pytest

from tests.interfaces.pages.administering import (
    LEAD,
    MEMBER,
    NEW_PASSWORD,
    chosen,
    errors,
    id_of,
    invited,
    shown_once,
    signed_in_as,
)
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import EMAIL, rows
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import PASSWORD
from wmsd.tenants.accounts import actions as accounts


async def test_somebody_is_invited_chooses_a_password_and_signs_in(admin: Visitor) -> None:
    link = await invited(admin, **{"abilities:stock:read": "on"})
    assert link.startswith(f"{admin.world.base_url}/welcome?code=")
    stranger = Visitor(admin.world)
    welcome = await stranger.get(link.removeprefix(admin.world.base_url))
    assert (welcome.status, welcome.heading) == (200, "Welcome, Ion")
    assert MEMBER in welcome.text
    assert "Choose a password that is hard to guess." in welcome.text
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
    assert (again.status, again.heading) == (404, "This link no longer works")
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
        ("short", "short", "Password must have from 10 to 1024 characters."),
        (
            "ion@example.com",
            "ion@example.com",
            "Password is too easy to guess: choose four unrelated words.",
        ),
        (NEW_PASSWORD, "something else", "The password again does not match the password."),
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


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"company_codes": "ACME"}, "Companies ACME is not one of your companies."),
        ({"company_codes": ""}, "Companies must name at least one of your companies."),
        (
            {"role": "platform-admin", "company_codes": ""},
            "Role must not be platform-admin: only a platform admin can create another one.",
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


async def test_blanks_around_what_was_pasted_are_left_out(admin: Visitor) -> None:
    fields = {"email": f" {MEMBER}\t", "name": " Ion ", "role": "member", "company_codes": " OTHER "}
    assert (await sent(admin, "/admin/users/new", **fields)).status == 200
    assert [cells[:2] for cells in rows(await admin.get("/admin/users"))][-1] == [MEMBER, "Ion"]


@pytest.mark.parametrize(
    "typed", ["ACME,OTHER", "ACME, OTHER", "ACME OTHER", "ACME\nOTHER", " ACME ;OTHER\n\nACME"]
)
async def test_codes_of_companies_stand_one_after_the_other(admin: Visitor, typed: str) -> None:
    await invited(admin, company_codes=typed)
    assert [cells[3] for cells in rows(await admin.get(f"/admin/users?search={MEMBER}"))] == ["ACME, OTHER"]
    path = f"/admin/users/{await id_of(admin, MEMBER)}/change"
    assert (await sent(admin, path, company_codes="OTHER, ACME")).status == 303
    assert (await sent(admin, path, company_codes="OTHER acme")).status == 422
    assert [cells[3] for cells in rows(await admin.get(f"/admin/users?search={MEMBER}"))] == ["ACME, OTHER"]


async def test_a_code_with_a_blank_from_before_stays_one(admin: Visitor) -> None:
    platform = admin.world.installation.platform
    await platform.write(lambda tx: tx.execute("UPDATE companies SET code = 'AC ME, RO' WHERE code = 'ACME'"))
    await invited(admin, company_codes="AC ME, RO\nOTHER")
    assert [cells[3] for cells in rows(await admin.get(f"/admin/users?search={MEMBER}"))] == ["AC ME, RO, OTHER"]


@pytest.mark.parametrize(
    ("typed", "messages"),
    [
        (
            "Demo Trading",
            [
                "Demo Trading is not a company of this installation",
                "use the code DEMO: the company with this name has this code",
            ],
        ),
        ("demo, OTHER", ["demo is not a company of this installation", "DEMO is the nearest code"]),
        ("x" * 64, ["x" * 64 + " is not a company of this installation"]),
    ],
)
async def test_what_is_no_code_of_a_company_leads_to_it(admin: Visitor, typed: str, messages: list[str]) -> None:
    await sent(admin, "/admin/companies/new", code="DEMO", name="Demo Trading")
    fields = {"email": MEMBER, "name": "Ion", "role": "member", "company_codes": typed}
    assert await errors(await sent(admin, "/admin/users/new", **fields)) == [f"Companies {'; '.join(messages)}."]


async def test_a_company_admin_learns_nothing_of_other_companies(admin: Visitor, lead: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"])
    path = f"/admin/users/{await id_of(admin, MEMBER)}/change"
    for typed in ("ACME", "acme", "ACM"):
        told = await errors(await sent(lead, path, company_codes=f"{typed}, OTHER"))
        assert told == [f"Companies {typed} is not one of your companies."]


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


async def test_a_link_that_somebody_has_kept_ends_with_other_rights(admin: Visitor, lead: Visitor) -> None:
    """The inviting admin may have kept the link, and must not get the rights that the user received later."""
    for typed in ({"role": "platform-admin", "company_codes": ""}, {"company_codes": "OTHER\nACME"}):
        email = f"user{len(typed)}@example.com"
        link = await invited(lead, email)
        path = f"/admin/users/{await id_of(admin, email)}/change"
        assert (await sent(admin, path, **typed)).status == 303
        assert (await chosen(lead, link)).status == 404


async def test_a_higher_role_needs_a_new_password(admin: Visitor, lead: Visitor) -> None:
    """Another person may have chosen the old password. The old password still opens what it opened before."""
    assert (await chosen(lead, await invited(lead))).status == 303
    member = await signed_in_as(admin.world, MEMBER, NEW_PASSWORD)
    path = f"/admin/users/{await id_of(admin, MEMBER)}"
    assert (await sent(admin, f"{path}/change", role="platform-admin", company_codes="")).status == 303
    for visitor in (member, await signed_in_as(admin.world, MEMBER, NEW_PASSWORD)):
        assert (await visitor.get("/companies/2/stock")).status == 200
        assert (await visitor.get("/admin/operators")).status == 403
    link = shown_once(await sent(admin, f"{path}/link"))["link"]
    assert (await chosen(admin, link, "another long pass phrase", "another long pass phrase")).status == 303
    promoted = await signed_in_as(admin.world, MEMBER, "another long pass phrase")
    assert (await promoted.get("/admin/operators")).status == 200


async def test_who_sets_a_password_ends_the_link(admin: Visitor) -> None:
    link = await invited(admin)
    platform = admin.world.installation.platform
    await platform.write(lambda tx: accounts.set_password(tx, MEMBER, "hash"))
    assert (await chosen(admin, link)).status == 404


async def test_who_never_chose_a_password_is_let_in_again_and_needs_a_link(admin: Visitor) -> None:
    link = await invited(admin)
    path = f"/admin/users/{await id_of(admin, MEMBER)}"
    assert (await sent(admin, f"{path}/shut-out")).status == 303
    seen = await admin.get((await sent(admin, f"{path}/let-in")).goes_to)
    assert "The user is enabled, but has no password yet. Create a password link." in seen.text
    assert "The user is enabled." not in seen.text
    assert (await chosen(admin, link)).status == 404
    assert (await chosen(admin, shown_once(await sent(admin, f"{path}/link"))["link"])).status == 303
    assert (await sent(admin, f"{path}/shut-out")).status == 303
    seen = await admin.get((await sent(admin, f"{path}/let-in")).goes_to)
    assert "The user is enabled." in seen.text


async def test_an_invited_admin_who_never_came_is_no_last_admin(admin: Visitor) -> None:
    for number, email in re.findall(r'href="/admin/users/(\d+)">(.*?)<', (await admin.get("/admin/users")).text):
        if email != EMAIL:
            assert (await sent(admin, f"/admin/users/{number}/shut-out")).status == 303
    await invited(admin, role="platform-admin", company_codes="")
    refused = await sent(admin, f"/admin/users/{await id_of(admin, EMAIL)}/shut-out")
    assert (refused.status, f"{EMAIL} is the only platform admin who can sign in" in refused.text) == (422, True)
    way = f"To create a new link: People, {MEMBER}, Create password link."
    assert (
        f"The platform admin {MEMBER} must first open the password link and choose a password. {way}"
        in refused.text
    )


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
