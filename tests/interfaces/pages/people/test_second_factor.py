"""A password opens nothing without the second factor. Each code works once. The second factor can be required of
admins.
"""

import html
import re
from pathlib import Path

import pytest

from tests.interfaces.pages.administering import audit
from tests.interfaces.pages.visitor import Seen, Visitor, cookie_of, sign_on_cookie_of
from tests.support.drawn_barcodes import barcodes_in
from tests.support.world import PASSWORD, UNLIMITED, World, open_world
from wmsd.tenants.accounts import totp
from wmsd.tenants.accounts.second_factor_actions import remove_second_factor

EMAIL = "ana@example.com"
PAGE = "/account/second-factor"
MANY = {"limits": {**UNLIMITED["limits"], "auth_per_minute": 10**9}}


@pytest.fixture
async def visitor(world: World) -> Visitor:
    await world.new_user(EMAIL, "platform-admin")
    visitor = Visitor(world)
    await visitor.sign_in(EMAIL, PASSWORD)
    return visitor


async def press(visitor: Visitor, act: str, **fields: str) -> Seen:
    token = (await visitor.get(PAGE)).form_token
    return await visitor.post(PAGE, {"form_token": token, "act": act, **fields})


def secret_in(seen: Seen) -> str:
    found = re.search(r'<pre class="code">([A-Z2-7 ]{39})</pre>', seen.text)
    assert found, seen.text
    groups = found[1].split(" ")
    assert [len(each) for each in groups] == [4] * 8
    return "".join(groups)


def scanned(seen: Seen) -> str:
    """Return the text that a phone reads from the drawing."""
    (code,) = barcodes_in(seen.text)
    return str(code.text)


def code_now(world: World, secret: str, away: int = 0) -> str:
    return totp.code_at(secret, int(world.clock.now().timestamp()) // 30 + away)


async def enrolled(visitor: Visitor) -> tuple[str, list[str]]:
    """Set up the second factor, and return the secret and the recovery codes."""
    secret = secret_in(await press(visitor, "begin"))
    done = await press(visitor, "confirm", code=code_now(visitor.world, secret), secret=secret)
    assert done.heading == "The second factor is on", done.text
    visitor.world.clock.advance(60)
    return secret, codes_in(done)


def codes_in(seen: Seen) -> list[str]:
    return re.findall(r"[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}", seen.text)


async def first_step(world: World, next_path: str = "") -> tuple[Visitor, str]:
    """Return a browser after the correct password, and the value that continues the sign-in."""
    visitor = Visitor(world)
    seen = await visitor.sign_in(EMAIL, PASSWORD, next_path)
    assert (seen.status, seen.heading, visitor.cookies) == (200, "Second step", {})
    found = re.search(r'name="pending" value="([^"]+)"', seen.text)
    assert found
    return visitor, html.unescape(found[1])


async def second_step(visitor: Visitor, pending: str, code: str, next_path: str = "", **box: str) -> Seen:
    return await visitor.post("/second-step", {"pending": pending, "code": code, "next": next_path, **box})


@pytest.mark.parametrize("secret", ["A" * 60_000, "A" * 1000, "a" * 32, "A" * 31 + "="])
async def test_only_a_secret_is_drawn(visitor: Visitor, secret: str) -> None:
    """The value sent with the code may be anything, and a large drawing would block the event loop."""
    await press(visitor, "begin")
    wrong = await press(visitor, "confirm", code="000000", secret=secret)
    assert (wrong.status, "<svg" in wrong.text, secret in wrong.text) == (422, False, False)


async def test_setting_up_and_signing_in(visitor: Visitor) -> None:
    world = visitor.world
    assert (
        "The second factor (a code from an app, in addition to the password) is off."
        in (await visitor.get("/account")).text
    )
    begun = await press(visitor, "begin")
    secret = secret_in(begun)
    uri = f"otpauth://totp/wmsd:ana%40example.com?secret={secret}&issuer=wmsd"
    assert html.escape(uri) in begun.text
    assert scanned(begun) == uri
    assert (await Visitor(world).sign_in(EMAIL, PASSWORD)).status == 303, (
        "it does not count before it is confirmed"
    )
    wrong = await press(visitor, "confirm", code="000000", secret=secret)
    assert (wrong.status, secret_in(wrong), scanned(wrong)) == (422, secret, uri)
    done = await press(visitor, "confirm", code=code_now(world, secret), secret=secret)
    assert (done.status, len(re.findall(r"(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}", done.text))) == (200, 10)
    world.clock.advance(60)
    browser, pending = await first_step(world, "/account")
    signed = await second_step(browser, pending, code_now(world, secret), "/account")
    assert (signed.status, signed.goes_to) == (303, "/account")
    assert (
        "The second factor (a code from an app, in addition to the password) is on."
        in (await browser.get("/account")).text
    )


async def test_whoever_wants_to_stay_signed_in_says_so_in_the_first_step(visitor: Visitor) -> None:
    world = visitor.world
    secret = secret_in(await press(visitor, "begin"))
    await press(visitor, "confirm", code=code_now(world, secret), secret=secret)
    world.clock.advance(60)
    browser = Visitor(world)
    first = await browser.post("/sign-in", {"email": EMAIL, "password": PASSWORD, "stay": "on"})
    assert '<input type="hidden" name="stay" value="on">' in first.text
    (pending,) = re.findall(r'name="pending" value="(.*?)"', first.text)
    signed = await second_step(browser, pending, code_now(world, secret), stay="on")
    assert "Max-Age=604800" in signed.headers["Set-Cookie"]


async def test_the_first_step_opens_nothing(visitor: Visitor) -> None:
    world = visitor.world
    secret, _ = await enrolled(visitor)
    browser, pending = await first_step(world)
    for name in (cookie_of(world), sign_on_cookie_of(world)):
        assert (await Visitor(world, {name: pending}).get("/today")).status == 303
    assert (await second_step(browser, "guess", code_now(world, secret))).status == 401
    assert (await second_step(browser, pending, "")).status == 422
    assert browser.cookies == {}
    assert (await second_step(browser, pending, code_now(world, secret))).status == 303
    assert (await second_step(Visitor(world), pending, code_now(world, secret, 1))).status == 401, "it is used up"


async def test_a_code_is_good_once(visitor: Visitor) -> None:
    world = visitor.world
    secret, _ = await enrolled(visitor)
    code = code_now(world, secret)
    for expected in (303, 401):
        browser, pending = await first_step(world)
        assert (await second_step(browser, pending, code)).status == expected
    browser, pending = await first_step(world)
    assert (await second_step(browser, pending, code_now(world, secret, -1))).status == 401, "nor is one before it"


async def test_the_code_of_the_set_up_is_used_too(visitor: Visitor) -> None:
    secret = secret_in(await press(visitor, "begin"))
    code = code_now(visitor.world, secret)
    await press(visitor, "confirm", code=code, secret=secret)
    browser, pending = await first_step(visitor.world)
    assert (await second_step(browser, pending, code)).status == 401


async def test_a_recovery_code_is_good_once_however_it_is_typed(visitor: Visitor) -> None:
    _, codes = await enrolled(visitor)
    assert len(set(codes)) == 10
    for typed, expected in ((codes[0].lower(), 303), (codes[0], 401), (codes[1].replace("-", " "), 303)):
        browser, pending = await first_step(visitor.world)
        assert (await second_step(browser, pending, typed)).status == expected


async def test_neither_secret_nor_codes_are_kept_in_clear(visitor: Visitor) -> None:
    secret, codes = await enrolled(visitor)
    for path in visitor.world.installation.folder.path.rglob("platform.db*"):
        content = path.read_bytes()
        for text in (secret, *codes, *(code.replace("-", "") for code in codes)):
            assert text.encode() not in content


async def test_the_second_step_takes_five_minutes_and_five_tries(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", MANY) as world:
        await world.new_user(EMAIL, "member", ["ACME"])
        visitor = Visitor(world)
        await visitor.sign_in(EMAIL, PASSWORD)
        secret, _ = await enrolled(visitor)
        browser, pending = await first_step(world)
        world.clock.advance(300)
        assert "too long" in (await second_step(browser, pending, code_now(world, secret))).text
        browser, pending = await first_step(world)
        for _ in range(5):
            assert (await second_step(browser, pending, "000000")).status == 401
        world.clock.advance(60)
        assert "too many wrong codes" in (await second_step(browser, pending, code_now(world, secret))).text


async def test_guesses_are_slowed_down_whatever_the_password_allows(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", MANY) as world:
        await world.new_user(EMAIL, "member", ["ACME"])
        visitor = Visitor(world)
        await visitor.sign_in(EMAIL, PASSWORD)
        secret, _ = await enrolled(visitor)
        told = []
        for _ in range(10):
            browser, pending = await first_step(world)
            told.append((await second_step(browser, pending, "000000")).status)
        assert told == [401] * 5 + [429] * 5
        assert (await press(visitor, "end", code="000000")).status == 429, "nor is switching it off a way around"
        world.clock.advance(2)
        browser, pending = await first_step(world)
        assert (await second_step(browser, pending, code_now(world, secret))).status == 303


async def test_it_is_switched_off_with_a_code(visitor: Visitor) -> None:
    secret, _ = await enrolled(visitor)
    assert (await press(visitor, "end", code="000000")).status == 401
    assert (await press(visitor, "begin")).status == 409, "nobody sets up another over it"
    assert (await press(visitor, "end", code=code_now(visitor.world, secret))).status == 200
    assert (await Visitor(visitor.world).sign_in(EMAIL, PASSWORD)).status == 303


async def test_new_recovery_codes_replace_those_of_before(visitor: Visitor) -> None:
    world = visitor.world
    secret, before = await enrolled(visitor)
    assert "in case you lose your phone: 10 of 10." in (await visitor.get(PAGE)).text
    browser, pending = await first_step(world)
    assert (await second_step(browser, pending, before[0])).status == 303
    assert "in case you lose your phone: 9 of 10." in (await visitor.get(PAGE)).text
    refused = await press(visitor, "renew", code="000000")
    assert (refused.status, codes_in(refused)) == (401, [])
    done = await press(visitor, "renew", code=code_now(world, secret))
    now = codes_in(done)
    assert (done.status, done.heading, len(set(now))) == (200, "New recovery codes", 10)
    assert (await audit(visitor))[0] == [
        EMAIL,
        "second-factor.recovery-codes",
        EMAIL,
        "127.0.0.1",
        "Recovery codes: 9 → 10",
    ]
    for code, expected in ((before[1], 401), (now[0], 303)):
        browser, pending = await first_step(world)
        assert (await second_step(browser, pending, code)).status == expected
    world.clock.advance(60)
    browser, pending = await first_step(world)
    assert (await second_step(browser, pending, code_now(world, secret))).status == 303, "the app goes on"


async def test_who_has_few_recovery_codes_left_is_told_and_may_use_one_for_new_ones(visitor: Visitor) -> None:
    _, codes = await enrolled(visitor)
    told = "Get new recovery codes while you still can."
    assert told not in (await visitor.get(PAGE)).text
    for code in codes[:8]:
        browser, pending = await first_step(visitor.world)
        assert (await second_step(browser, pending, code)).status == 303
        visitor.world.clock.advance(60)
    assert told in (await visitor.get(PAGE)).text
    assert len(codes_in(await press(visitor, "renew", code=codes[8]))) == 10
    assert told not in (await visitor.get(PAGE)).text


async def test_without_a_second_factor_there_are_no_recovery_codes(visitor: Visitor) -> None:
    refused = await press(visitor, "renew", code="000000")
    assert (refused.status, codes_in(refused)) == (409, [])
    assert "You have no second factor. Set one up to get recovery codes." in refused.text


async def test_an_admin_takes_away_one_that_is_lost(visitor: Visitor) -> None:
    await enrolled(visitor)
    platform = visitor.world.installation.platform
    assert await platform.write(lambda tx: remove_second_factor(tx, EMAIL)) is True
    assert (await Visitor(visitor.world).sign_in(EMAIL, PASSWORD)).status == 303
    assert await platform.read(lambda tx: tx.value("SELECT count(*) FROM recovery_codes")) == 0


async def test_a_password_alone_gets_no_token(visitor: Visitor) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "abilities": ["*"]}
    world = visitor.world
    before = (await world.call("POST", "/api/auth/token", body, token="", company="")).body["token"]
    await enrolled(visitor)
    refused = await world.call("POST", "/api/auth/token", body, token="", company="", status=403)
    assert "second factor" in refused.body["message"]
    wrong = {**body, "password": "a guess"}
    await world.call("POST", "/api/auth/token", wrong, token="", company="", status=401)
    await world.call("GET", "/api/user", token=before, company="")


async def test_admins_are_led_to_it_where_it_is_demanded(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {**UNLIMITED, "sessions": {"second_factor": "admins"}}) as world:
        await world.new_user(EMAIL, "company-admin", ["ACME"])
        await world.new_user("ion@example.com", "member", ["ACME"])
        visitor, member = Visitor(world), Visitor(world)
        await member.sign_in("ion@example.com", PASSWORD)
        assert (await member.get("/today")).status == 200
        await visitor.sign_in(EMAIL, PASSWORD)
        for path in ("/today", "/account", "/companies/1/articles", "/companies/1/articles/new"):
            seen = await visitor.get(path)
            assert (seen.status, seen.goes_to) == (303, PAGE)
        token = (await visitor.get(PAGE)).form_token
        fields = {"form_token": token, "which": "others"}
        assert (await visitor.post("/account/sessions", fields)).goes_to == PAGE
        body = {"email": EMAIL, "password": PASSWORD, "abilities": ["*"]}
        await world.call("POST", "/api/auth/token", body, token="", company="", status=403)
        await enrolled(visitor)
        assert (await visitor.get("/today")).status == 200
        await world.installation.platform.write(lambda tx: remove_second_factor(tx, EMAIL))
        assert (await visitor.get("/today")).goes_to == PAGE


async def test_who_is_led_to_it_may_sign_out(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {**UNLIMITED, "sessions": {"second_factor": "admins"}}) as world:
        await world.new_user(EMAIL, "platform-admin")
        visitor = Visitor(world)
        await visitor.sign_in(EMAIL, PASSWORD)
        token = (await visitor.get(PAGE)).form_token
        assert (await visitor.post("/sign-out", {"form_token": token})).goes_to == "/sign-in?done=out"
        assert visitor.cookies == {}


async def test_the_forms_must_be_of_this_session_and_this_site(visitor: Visitor) -> None:
    assert (await visitor.post(PAGE, {"act": "begin"})).status == 403
    assert (await visitor.post("/second-step", {"pending": "x", "code": "1"}, site="cross-site")).status == 403


async def test_what_is_typed_is_text(visitor: Visitor) -> None:
    seen = await press(visitor, "confirm", code='"><script>', secret='"><script>alert(1)</script>')
    assert (seen.status, "<script>" in seen.text) == (422, False)
