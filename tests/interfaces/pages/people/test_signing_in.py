"""People sign in to the pages with their password; a session ends on time, and no other site can use the
session.
"""

import re
from pathlib import Path

import pytest

from tests.interfaces.pages.records.test_browse import text_of
from tests.interfaces.pages.visitor import Visitor, cookie_of, with_secret
from tests.support.world import PASSWORD, World, open_world
from wmsd.base.machine.disk import Disk
from wmsd.data_folder.folder import DataFolder
from wmsd.tenants.accounts import actions as accounts

EMAIL = "ana@example.com"
HOUR = 3600


@pytest.fixture
async def visitor(world: World) -> Visitor:
    await world.new_user(EMAIL, "platform-admin")
    return Visitor(world)


async def signed_in(world: World, agent: str = "Tests/1.0") -> Visitor:
    visitor = Visitor(world, agent=agent)
    seen = await visitor.sign_in(EMAIL, PASSWORD)
    assert (seen.status, seen.goes_to) == (303, "/today"), seen.text
    return visitor


async def is_in(visitor: Visitor) -> bool:
    seen = await visitor.get("/today")
    assert seen.status == 200 or seen.goes_to == "/sign-in?next=/today"
    return seen.status == 200


async def test_who_is_not_signed_in_signs_in_and_comes_back(visitor: Visitor) -> None:
    refused = await visitor.get("/account")
    assert (refused.status, refused.goes_to) == (303, "/sign-in?next=/account")
    form = await visitor.get(refused.goes_to)
    assert (form.status, form.heading) == (200, "Sign in to wmsd")
    assert 'name="next" value="/account"' in form.text
    done = await visitor.sign_in(EMAIL, PASSWORD, "/account")
    assert (done.status, done.goes_to) == (303, "/account")
    account = await visitor.get("/account")
    assert (account.status, account.heading) == (200, EMAIL)


@pytest.mark.parametrize(("box", "kept"), [({}, None), ({"stay": "on"}, f"Max-Age={7 * 24 * HOUR}")])
async def test_the_browser_keeps_the_session_of_who_wants_to_stay(
    visitor: Visitor, box: dict[str, str], kept: str | None
) -> None:
    """With the choice, the browser keeps the session for its lifetime; otherwise, until the browser is closed."""
    form = text_of((await visitor.get("/sign-in")).text)
    assert "Stay signed in on this device Otherwise you are signed out when you close the browser." in form
    assert "You are always signed out after 12 h without activity, and after 7 d in total." in form
    done = await visitor.post("/sign-in", {"email": EMAIL, "password": PASSWORD, **box})
    found = re.search(r"Max-Age=\d+", done.headers["Set-Cookie"])
    assert (found and found[0]) == kept


async def test_the_box_stays_checked_after_a_wrong_password(visitor: Visitor) -> None:
    refused = await visitor.post("/sign-in", {"email": EMAIL, "password": "a guess", "stay": "on"})
    assert re.search(r'name="stay"[^>]* checked', refused.text)


async def test_the_first_page_shows_the_companies_of_the_user(visitor: Visitor) -> None:
    await visitor.world.new_company("OTHER")
    await visitor.world.new_user("ion@example.com", "member", ["OTHER"])
    await visitor.sign_in("ion@example.com", PASSWORD)
    seen = await visitor.get("/today")
    assert (seen.status, seen.heading) == (200, "Today")
    assert re.findall(r">(Company \w+)</a></td>", seen.text) == ["Company OTHER"]


@pytest.mark.parametrize(
    ("email", "password"), [(EMAIL, "a guess"), ("nobody@example.com", PASSWORD), (EMAIL.upper(), "a guess")]
)
async def test_a_wrong_password_is_told_and_the_address_kept(visitor: Visitor, email: str, password: str) -> None:
    seen = await visitor.sign_in(email, password)
    assert seen.status == 401
    assert "The e-mail address or the password is wrong." in seen.text
    assert f'value="{email}"' in seen.text
    assert password not in seen.text
    assert visitor.cookies == {}


async def test_missing_fields_are_named(visitor: Visitor) -> None:
    seen = await visitor.sign_in("", "")
    assert seen.status == 422
    assert seen.text.count('aria-invalid="true"') == 2
    assert 'id="email-error"' in seen.text


async def test_script_in_a_field_is_text(visitor: Visitor) -> None:
    seen = await visitor.sign_in('"><script>alert(1)</script>', "x", '/"><script>alert(2)</script>')
    assert "<script>" not in seen.text
    assert "&#34;&gt;&lt;script&gt;alert(1)" in seen.text


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:1"]
)
async def test_nobody_is_led_elsewhere(visitor: Visitor, elsewhere: str) -> None:
    assert (await visitor.sign_in(EMAIL, PASSWORD, elsewhere)).goes_to == "/today"
    assert (await visitor.get(f"/sign-in?next={elsewhere}")).goes_to == "/today"


async def test_a_form_of_another_site_is_refused(visitor: Visitor) -> None:
    fields = {"email": EMAIL, "password": PASSWORD}
    for site in ("cross-site", "same-site", "none"):
        seen = await visitor.post("/sign-in", fields, site=site)
        assert (seen.status, seen.heading) == (403, "Not allowed")
    for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        assert (await visitor.post("/sign-in", fields, headers, site="")).status == 403
    assert visitor.cookies == {}
    own = {"Origin": visitor.world.base_url}
    assert (await visitor.post("/sign-in", fields, own, site="")).status == 303


async def test_a_form_without_the_token_of_its_session_is_refused(visitor: Visitor) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    other = await signed_in(visitor.world)
    foreign = (await other.get("/account")).form_token
    for fields in ({}, {"form_token": ""}, {"form_token": foreign}, {"form_token": "é"}):
        assert (await visitor.post("/sign-out", fields)).status == 403
        assert (await visitor.post("/account/sessions", {"which": "others", **fields})).status == 403
    assert await is_in(visitor)
    assert await is_in(other)


async def test_a_form_that_comes_too_late_leads_back_to_its_page(visitor: Visitor) -> None:
    page = "/companies/1/articles?search=a"
    seen = await visitor.post("/account/language", {}, {"Referer": visitor.world.base_url + page})
    assert (seen.status, seen.goes_to) == (303, "/sign-in?next=/companies/1/articles?search%3Da&lost=form")
    form = await visitor.get(seen.goes_to)
    assert "Your session ended before you sent the form" in form.text
    again = await visitor.post("/sign-in", {"email": EMAIL, "password": "a guess", "next": page, "lost": "form"})
    assert "Your session ended before you sent the form" in again.text
    assert (await visitor.sign_in(EMAIL, PASSWORD, page)).goes_to == page


@pytest.mark.parametrize(
    "page", ["", "https://evil.example/companies/1", "{own}.evil.example/x", "{own}//evil.example"]
)
async def test_a_form_of_no_page_of_ours_leads_to_the_first_page(visitor: Visitor, page: str) -> None:
    referer = {"Referer": page.format(own=visitor.world.base_url)} if page else {}
    seen = await visitor.post("/account/language", {}, referer)
    assert (seen.status, seen.goes_to) == (303, "/sign-in?next=/today")


async def test_signing_out_ends_the_session(visitor: Visitor) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    stolen = Visitor(visitor.world, dict(visitor.cookies))
    assert await is_in(stolen)
    token = (await visitor.get("/account")).form_token
    done = await visitor.post("/sign-out", {"form_token": token})
    assert (done.goes_to, visitor.cookies) == ("/sign-in?done=out", {})
    assert not await is_in(stolen)


async def test_a_new_sign_in_is_a_new_session(visitor: Visitor) -> None:
    """A session that an attacker has planted in a browser is not taken over."""
    visitor.cookies[cookie_of(visitor.world)] = "planted"
    await visitor.sign_in(EMAIL, PASSWORD)
    first = visitor.secret or ""
    assert first not in ("", "planted")
    await visitor.sign_in(EMAIL, PASSWORD)
    assert visitor.secret not in (None, first)
    assert not await is_in(with_secret(visitor.world, first))


async def test_two_installations_of_one_host_do_not_sign_each_other_out(visitor: Visitor, tmp_path: Path) -> None:
    """A browser sends the cookies of a host to all ports of the host."""
    DataFolder(tmp_path / "other").make()
    async with open_world(tmp_path / "other") as world:
        await world.new_user(EMAIL, "platform-admin")
        other = Visitor(world, visitor.cookies)
        await visitor.sign_in(EMAIL, PASSWORD)
        assert not await is_in(other)
        await other.sign_in(EMAIL, PASSWORD)
        assert await is_in(visitor)
        await other.post("/sign-out", {"form_token": (await other.get("/account")).form_token})
        assert (await is_in(visitor), await is_in(other)) == (True, False)


async def test_sessions_are_listed_and_ended(visitor: Visitor) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    phone, tablet = await signed_in(visitor.world, "Phone <1>"), await signed_in(visitor.world, "Tablet")
    seen = await visitor.get("/account")
    assert "Phone &lt;1&gt;" in seen.text
    assert seen.text.partition("<dialog")[0].count("this browser") == 1
    ids = re.findall(r'name="which" value="(\d+)"', seen.text)
    assert len(ids) == 2
    await visitor.post("/account/sessions", {"form_token": seen.form_token, "which": ids[0]})
    assert [await is_in(phone), await is_in(tablet), await is_in(visitor)].count(False) == 1
    await visitor.post("/account/sessions", {"form_token": seen.form_token, "which": "others"})
    assert [await is_in(phone), await is_in(tablet), await is_in(visitor)] == [False, False, True]


async def test_nobody_ends_the_session_of_another(visitor: Visitor) -> None:
    await visitor.world.new_user("ion@example.com", "member")
    await visitor.sign_in(EMAIL, PASSWORD)
    other = Visitor(visitor.world)
    await other.sign_in("ion@example.com", PASSWORD)
    token = (await other.get("/account")).form_token
    for which in ("1", "0", "x", "99999999999999999999"):
        await other.post("/account/sessions", {"form_token": token, "which": which})
    assert await is_in(visitor)


async def test_an_idle_session_ends_and_so_does_an_old_one(visitor: Visitor) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    world = visitor.world
    for _ in range(13):
        world.clock.advance(12 * HOUR - 1)
        assert await is_in(visitor)
        await world.installation.access.write_session_uses()
    world.clock.advance(12 * HOUR)
    assert not await is_in(visitor)

    again = await signed_in(world)
    world.clock.advance(12 * HOUR)
    assert not await is_in(again)
    await world.jobs.sweep_tokens()
    assert await world.installation.platform.read(lambda tx: tx.value("SELECT count(*) FROM sessions")) == 0


async def test_a_new_password_and_a_disabled_user_end_every_session(visitor: Visitor) -> None:
    world = visitor.world
    await visitor.sign_in(EMAIL, PASSWORD)
    hash_ = await world.installation.passwords.hash(PASSWORD)
    await world.installation.platform.write(lambda tx: accounts.set_password(tx, EMAIL, hash_))
    assert not await is_in(visitor)
    await visitor.sign_in(EMAIL, PASSWORD)
    await world.installation.platform.write(lambda tx: accounts.disable_user(tx, EMAIL))
    assert not await is_in(visitor)
    assert (await visitor.sign_in(EMAIL, PASSWORD)).status == 401


async def test_a_session_is_no_token_and_a_token_no_session(visitor: Visitor) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    secret, world = visitor.secret or "", visitor.world
    for headers in ({"Cookie": f"{cookie_of(world)}={secret}"}, {"Authorization": f"Bearer {secret}"}):
        assert (await world.send("GET", "/api/user", token="", headers=headers)).status == 401
    assert not await is_in(with_secret(world, world.token))


async def test_the_secret_is_kept_nowhere(visitor: Visitor) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    secret = (visitor.secret or "").encode()
    for path in visitor.world.installation.folder.path.rglob("platform.db*"):
        assert secret not in path.read_bytes()


async def test_pages_are_private_and_cannot_be_framed(visitor: Visitor) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    for browser, path in ((visitor, "/today"), (visitor, "/account"), (Visitor(visitor.world), "/sign-in")):
        headers = (await browser.get(path)).headers
        assert headers["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]


async def test_the_stylesheet_is_kept_for_good(visitor: Visitor) -> None:
    page = await visitor.get("/sign-in")
    found = re.search(r'href="(/pages/look-[0-9a-f]{12}\.css)"', page.text)
    assert found
    sheet = await visitor.get(found[1])
    assert (sheet.status, sheet.headers["Cache-Control"]) == (200, "public, max-age=31536000, immutable")
    assert sheet.headers["Content-Type"] == "text/css; charset=utf-8"
    for name in ("look.css", "..%2frouting.py", "look-000000000000.css"):
        assert (await visitor.get(f"/pages/{name}")).status == 404


async def test_who_tries_many_passwords_waits(visitor: Visitor) -> None:
    answers = [(await visitor.sign_in(EMAIL, f"guess {number}")).status for number in range(12)]
    assert 429 in answers
    assert "Too many" in (await visitor.sign_in(EMAIL, PASSWORD)).text


async def test_what_is_wrong_is_said_with_what_to_do(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    await visitor.sign_in(EMAIL, PASSWORD)
    assert "Problems" not in (await visitor.get("/today")).text
    monkeypatch.setattr("wmsd.server.health.disk_of", lambda _: Disk(10**6, 10**12))
    seen = await visitor.get("/today")
    assert "The disk is full or almost full. Free some space." in seen.text


async def test_who_asks_too_often_is_told_on_a_page(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"pages_per_minute": 4}}) as world:
        await world.new_user(EMAIL, "platform-admin")
        visitor = Visitor(world)
        await visitor.sign_in(EMAIL, PASSWORD)
        for _ in range(5):
            seen = await visitor.get("/today")
        assert (seen.status, "Too many requests" in seen.text) == (429, True)


async def test_who_is_not_signed_in_is_counted_by_address(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"open_per_minute": 5}}) as world:
        await world.new_user(EMAIL, "platform-admin")
        signed = await signed_in(world)
        told = [(await Visitor(world).get("/today")).status for _ in range(6)]
        assert told == [303] * 4 + [429] * 2
        assert await is_in(signed)
