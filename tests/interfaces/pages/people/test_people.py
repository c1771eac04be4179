"""Admins manage users on the pages, each within the role."""

import asyncio
import re

import pytest

from tests.interfaces.pages.administering import (
    LEAD,
    MEMBER,
    NEW_PASSWORD,
    audit,
    chosen,
    id_of,
    invited,
    shown_once,
    signed_in_as,
)
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import EMAIL, rows, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import PASSWORD
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.tenants.companies import actions as companies


async def test_a_change_counts_from_the_next_request_on(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    member, path = await signed_in_as(admin.world, MEMBER), f"/admin/users/{await id_of(admin, MEMBER)}"
    assert (await member.get("/companies/2/stock")).status == 200
    done = await sent(admin, f"{path}/change", company_codes="ACME", name="Ion Pop")
    assert (done.status, done.goes_to) == (303, f"{path}?done=change")
    assert (await member.get("/companies/2/stock")).status == 404
    assert (await member.get("/companies/1/stock")).status == 404, "this session does not grow"
    assert (await audit(admin))[0] == [
        EMAIL,
        "user.change",
        MEMBER,
        "127.0.0.1",
        f"Name: {MEMBER} → Ion Pop Companies: OTHER → ACME",
    ]
    assert (await (await signed_in_as(admin.world, MEMBER)).get("/companies/1/stock")).status == 200


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
    """The owner of an address gets the rights that single sign-on grants to the address."""
    await lead.world.new_user(MEMBER, "member", ["OTHER"])
    number = await id_of(lead, MEMBER)
    assert "/email" not in (await lead.get(f"/admin/users/{number}")).text
    token = (await lead.get("/admin/users/new")).form_token
    seen = await lead.post(f"/admin/users/{number}/email", {"form_token": token, "email": "x@example.com"})
    assert seen.status in (403, 404)


async def test_two_admins_who_delete_each_other_at_once(admin: Visitor) -> None:
    """Of two admins who delete each other, the later deletion is refused, so one admin stays."""
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
    """The last platform admin who can sign in cannot be disabled, demoted or deleted."""
    others = re.findall(
        r'href="/admin/users/(\d+)">(.*?)<', (await admin.get("/admin/users?role=platform-admin")).text
    )
    for number, email in others:
        if email != EMAIL:
            assert (await sent(admin, f"/admin/users/{number}/shut-out")).status == 303
    path = f"/admin/users/{await id_of(admin, EMAIL)}/{act}"
    refused = await sent(admin, path, **({"role": "member"} if act == "change" else {}))
    assert refused.status == 422
    assert (
        f"{EMAIL} is the last platform admin who can sign in. Create another platform admin first" in refused.text
    )
    assert "People, Invite a user" in refused.text
    assert (await admin.get("/admin/users")).status == 200


async def test_all_abilities_are_a_word_and_no_star(admin: Visitor) -> None:
    seen = await admin.get(f"/admin/users/{await id_of(admin, EMAIL)}")
    assert "Abilities everything" in text_of(seen.text)
    assert "*" not in text_of(seen.text)


async def test_rights_are_told_with_their_reasons(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    path = f"/admin/users/{await id_of(admin, MEMBER)}"
    seen = await admin.get(f"{path}/rights")
    may, may_not = parts_of(seen)
    assert "Members may do only what their abilities allow" in may
    said = re.findall(r'<td class="long">(.*?)</td><td class="soft"><code>(.*?)</code>', may)
    assert said == [("Read stock", "stock:read")]
    assert "does not have this ability" in may_not
    assert ("Read articles" in may_not, "stock:read" in may_not) == (True, False)
    assert "Module oprite" in (await admin.get(f"{path}/rights", {"Accept-Language": "ro"})).text
    own = await admin.get(f"/admin/users/{await id_of(admin, EMAIL)}/rights")
    assert 'id="not-allowed"' not in own.text
    assert "A platform admin may do everything, in every company." in own.text
    assert (await sent(admin, f"{path}/shut-out")).status == 303
    none, shut_out = parts_of(await admin.get(f"{path}/rights"))
    assert (none, "can do nothing until an admin enables the user" in shut_out) == ("", True)


async def test_rights_say_what_is_switched_off_in_words(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["sales-orders:read"])
    path = f"/admin/users/{await id_of(admin, MEMBER)}/rights"
    assert "none" in text_of((await admin.get(path)).text)
    await admin.world.installation.platform.write(lambda tx: companies.set_module(tx, "OTHER", "outbound", False))
    assert "outbound (sales orders)" in text_of((await admin.get(path)).text)


def parts_of(seen: Seen) -> tuple[str, str]:
    """Return the allowed and the forbidden part of the page."""
    found = dict(re.findall(r'id="((?:not-)?allowed)">(.*?)</section>', seen.text, re.DOTALL))
    return found.get("allowed", ""), found.get("not-allowed", "")


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


async def test_members_see_their_own_tokens_and_nothing_else(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    await admin.world.new_token(EMAIL)
    member = await signed_in_as(admin.world, MEMBER)
    for resource in ADMINISTRATION:
        seen = await member.get(f"/admin/{resource.name}")
        assert seen.status == (200 if resource.name == "tokens" else 403), resource.name
    assert rows(await member.get("/admin/tokens")) == []
    assert 'href="/admin/users"' not in (await member.get("/today")).text


async def test_script_in_what_people_are_called_is_text(admin: Visitor) -> None:
    script = "<script>alert(1)</script>"
    link = await invited(admin, name=script)
    for path in (
        "/admin/users",
        f"/admin/users/{await id_of(admin, MEMBER)}/rights",
        link.removeprefix(admin.world.base_url),
    ):
        assert "<script>" not in (await admin.get(path)).text, path
