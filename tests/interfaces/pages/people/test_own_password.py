"""People change their own password: they must know the current one, guesses are slowed down, and other sessions
end.
"""

import re
from pathlib import Path

import pytest

from tests.interfaces.pages.administering import (
    MEMBER,
    NEW_PASSWORD,
    audit,
    chosen,
    id_of,
    shown_once,
    signed_in_as,
)
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import EMAIL, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import PASSWORD, UNLIMITED, World, open_world
from wmsd.tenants.accounts import store
from wmsd.tenants.accounts.passwords import NO_PASSWORD

PAGE = "/account/password"


async def changed(
    visitor: Visitor, current: str = PASSWORD, password: str = NEW_PASSWORD, again: str | None = None
) -> Seen:
    fields = {"current": current, "password": password, "again": password if again is None else again}
    return await visitor.post(PAGE, {"form_token": (await visitor.get("/account")).form_token, **fields})


async def signed_in(world: World) -> Visitor:
    await world.new_user(MEMBER, "member", ["ACME"], ["stock:read"])
    return await signed_in_as(world, MEMBER)


async def token_of(world: World) -> str:
    body = {"email": MEMBER, "password": PASSWORD, "abilities": ["stock:read"]}
    token = (await world.call("POST", "/api/auth/token", body, token="", company="")).body["token"]
    assert isinstance(token, str)
    return token


async def test_it_counts_at_once_and_ends_what_the_old_one_opened(admin: Visitor) -> None:
    world = admin.world
    here = await signed_in(world)
    elsewhere = await signed_in_as(world, MEMBER)
    by_password, issued = await token_of(world), await world.new_token(MEMBER, ["stock:read"])
    assert 'href="/account/password"' in (await here.get("/account")).text
    done = await changed(here)
    assert done.status == 303, "a page that is loaded again does not send the form again"
    seen = await here.get(done.goes_to)
    assert (seen.status, seen.heading) == (200, MEMBER)
    assert "Other sessions ended: 1; sign-in tokens revoked: 1." in text_of(seen.text)
    assert (await here.get("/today")).status == 200
    assert (await elsewhere.get("/today")).status == 303
    assert (await world.send("GET", "/api/stock", token=by_password)).status == 401
    assert (await world.send("GET", "/api/stock", token=issued)).status == 200
    assert (await Visitor(world).sign_in(MEMBER, PASSWORD)).status == 401
    assert (await audit(admin))[0] == [
        MEMBER,
        "user.change-password",
        MEMBER,
        "127.0.0.1",
        "Sessions: 2 → 1 Tokens: 2 → 1",
    ]
    await signed_in_as(world, MEMBER, NEW_PASSWORD)


async def test_each_heading_of_the_table_of_browsers_says_something(admin: Visitor) -> None:
    account = await admin.get("/account")
    assert "Where you are signed in" in account.text
    assert re.findall(r"<th[^>]*>\s*</th>", account.text) == []


@pytest.mark.parametrize(
    ("typed", "messages"),
    [
        (("a guess at it", NEW_PASSWORD, None), ["Your current password is wrong."]),
        ((PASSWORD, "short", None), ["New password must have from 10 to 1024 characters."]),
        ((PASSWORD, NEW_PASSWORD, "something else"), ["The new password again does not match the password."]),
        ((PASSWORD, PASSWORD, None), ["New password is your current password: choose another one."]),
        (
            ("a guess at it", MEMBER, None),
            [
                "Your current password is wrong.",
                "New password is too easy to guess: choose four unrelated words.",
            ],
        ),
    ],
)
async def test_what_does_not_do_is_told_and_changes_nothing(
    admin: Visitor, typed: tuple[str, str, str | None], messages: list[str]
) -> None:
    visitor = await signed_in(admin.world)
    elsewhere = await signed_in_as(admin.world, MEMBER)
    refused = await changed(visitor, *typed)
    assert refused.status == 422
    assert [m for m in messages if m not in text_of(refused.text)] == []
    assert not [word for word in typed if word and word != MEMBER and f'value="{word}"' in refused.text]
    assert (await elsewhere.get("/today")).status == 200
    await signed_in_as(admin.world, MEMBER)


async def test_guesses_are_slowed_down_and_told_in_the_audit(admin: Visitor) -> None:
    world = admin.world
    visitor = await signed_in(world)
    told = [await changed(visitor, f"guess {each}") for each in range(7)]
    assert [each.status for each in told] == [422] * 5 + [429] * 2
    wait = told[-1].headers["Retry-After"]
    assert 0 < int(wait) <= 60
    assert f"Try again in {wait} s." in text_of(told[-1].text)
    assert (await changed(visitor)).status == 429, "even the right one waits"
    await world.installation.failed_sign_ins.write_failed_sign_ins()
    assert (await audit(admin))[0][1:3] == ["sign-in.failed", MEMBER]
    world.clock.advance(60)
    assert (await changed(visitor)).status == 303


async def test_an_address_has_as_many_tries_as_for_signing_in(tmp_path: Path) -> None:
    limits = {"limits": {**UNLIMITED["limits"], "auth_per_minute": 3}}
    async with open_world(tmp_path / "data", limits) as world:
        visitor = await signed_in(world)
        assert [(await changed(visitor, "a guess")).status for _ in range(3)] == [422, 422, 429]


async def test_sessions_that_were_over_are_not_counted(admin: Visitor) -> None:
    """Expired sessions stay in the table until they are deleted."""
    world = admin.world
    await signed_in(world)
    world.clock.advance(13 * 3600)
    admin_again, here = await signed_in_as(world, EMAIL), await signed_in_as(world, MEMBER)
    await signed_in_as(world, MEMBER)
    seen = await here.get((await changed(here)).goes_to)
    assert "Other sessions ended: 1; sign-in tokens revoked: 0." in text_of(seen.text)
    assert (await audit(admin_again))[0][-1] == "Sessions: 2 → 1"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?done=password",
        "?done=password&sessions_ended=1",
        "?done=password&sessions_ended=all&tokens_ended=0",
        "?done=out&sessions_ended=1&tokens_ended=1",
    ],
)
async def test_an_address_that_no_change_leads_to_tells_of_none(admin: Visitor, query: str) -> None:
    seen = await admin.get(f"/account{query}")
    assert (seen.status, "Your password is changed" in seen.text) == (200, False)


async def test_who_has_no_password_is_told_where_it_is_changed(admin: Visitor) -> None:
    world = admin.world
    visitor = await signed_in(world)
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE users SET password_hash = ? WHERE email = ?", (NO_PASSWORD, MEMBER))
    )
    for path in ("/account", PAGE):
        seen = await visitor.get(path)
        assert "You have no password here. Sign in by single sign-on" in text_of(seen.text)
        assert "Change the password</button>" not in seen.text
    refused = await changed(visitor, "anything", NEW_PASSWORD)
    assert (refused.status, "with a link from an admin" in text_of(refused.text)) == (409, True)
    user = await world.installation.platform.read(lambda tx: store.user_by_email(tx, MEMBER))
    assert user is not None
    assert user.password_hash == NO_PASSWORD


async def test_only_a_form_of_this_session_changes_it(admin: Visitor) -> None:
    fields = {"current": PASSWORD, "password": NEW_PASSWORD, "again": NEW_PASSWORD}
    assert (await admin.post(PAGE, fields)).status == 403
    token = (await admin.get(PAGE)).form_token
    assert (await admin.post(PAGE, {**fields, "form_token": token}, site="cross-site")).status == 403
    assert (await Visitor(admin.world).post(PAGE, fields)).goes_to.startswith("/sign-in")
    await signed_in_as(admin.world, EMAIL)


async def test_a_link_that_was_sent_before_ends(admin: Visitor) -> None:
    visitor = await signed_in(admin.world)
    link = shown_once(await sent(admin, f"/admin/users/{await id_of(admin, MEMBER)}/link"))["link"]
    assert (await changed(visitor)).status == 303
    assert (await chosen(Visitor(admin.world), link)).status == 404
