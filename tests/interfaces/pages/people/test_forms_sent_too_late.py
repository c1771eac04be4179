"""A form that is sent after its session has ended comes back filled in after sign-in, even without JavaScript."""

import html
import re
from collections.abc import Mapping

import pytest

from tests.interfaces.pages.people.test_second_factor import code_now, press, secret_in
from tests.interfaces.pages.records.test_act import form_of
from tests.interfaces.pages.records.test_browse import EMAIL, SCRIPT, signed_in
from tests.interfaces.pages.visitor import Seen, Visitor, with_secret
from tests.support.shop import Shop
from tests.support.world import PASSWORD
from wmsd.interfaces.pages.kit.browser import LARGEST_FORM, MOST_WITH_ROWS
from wmsd.tenants.accounts.sessions import MOST_OF_A_USER

NEW_ORDER = "/companies/1/sales-orders/new"
NEW_WEBHOOK = "/companies/1/webhooks/new"
TYPED = {
    "partner": "P1",
    "warehouse": "MAIN",
    "customer_reference": SCRIPT,
    "notes": "first\r\nsecond",
    "lines.0.article_code": "A",
    "lines.0.quantity": "2",
    "lines.2.article_code": "B",
    "lines.2.quantity": "one",
}
NIGHT = 13 * 3600


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


def carried(seen: Seen) -> dict[str, str]:
    """Return the hidden fields of the page, which a browser sends with the form."""
    tags = re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)">', seen.text, re.DOTALL)
    return {name: html.unescape(value) for name, value in tags}


async def sent_too_late(
    visitor: Visitor, path: str = NEW_ORDER, typed: Mapping[str, str] = TYPED, is_swept: bool = False
) -> Seen:
    fields = {**form_of(await visitor.get(path)), **typed}
    visitor.world.clock.advance(NIGHT)
    if is_swept:
        await visitor.world.jobs.sweep_tokens()
    return await visitor.post(path, fields, {"Referer": visitor.world.base_url + path})


async def sign_in(visitor: Visitor, late: Seen, email: str = EMAIL, password: str = PASSWORD) -> Seen:
    return await visitor.post("/sign-in", {**carried(late), "email": email, "password": password})


async def go_on(visitor: Visitor, done: Seen, path: str = NEW_ORDER) -> Seen:
    assert (done.status, done.heading) == (200, "You are signed in")
    assert f'<form method="post" action="{path}"' in done.text
    return await visitor.post(path, carried(done))


async def orders(visitor: Visitor) -> int:
    (number,) = (await visitor.world.rows("SELECT count(*) FROM sales_orders"))[0]
    return int(number)


@pytest.mark.parametrize("is_swept", [False, True])
async def test_the_form_stands_there_filled_and_nothing_is_done(visitor: Visitor, is_swept: bool) -> None:
    late = await sent_too_late(visitor, is_swept=is_swept)
    assert (late.status, late.heading) == (401, "Sign in to wmsd")
    assert "Your session ended before you sent the form" in late.text
    assert SCRIPT not in late.text
    guessed = await sign_in(visitor, late, password="a guess")
    assert carried(guessed) == carried(late)
    form = await go_on(visitor, await sign_in(visitor, guessed))
    assert "but it is not saved yet." in form.text
    assert await orders(visitor) == 0
    fields = form_of(form)
    assert {name: fields[name] for name in TYPED if "lines" not in name} == {
        **{name: TYPED[name] for name in TYPED if "lines" not in name},
        "notes": "first\nsecond",
    }
    assert [fields[f"lines.1.{name}"] for name in ("article_code", "quantity")] == ["B", "one"]
    wrong = await visitor.post(NEW_ORDER, fields)
    assert wrong.status == 422
    done = await visitor.post(NEW_ORDER, {**fields, "lines.1.quantity": "1"})
    assert (done.status, await orders(visitor)) == (303, 1)


async def test_one_that_was_saved_before_is_not_saved_twice(visitor: Visitor) -> None:
    typed = {**TYPED, "lines.2.quantity": "1"}
    fields = {**form_of(await visitor.get(NEW_ORDER)), **typed}
    first = await visitor.post(NEW_ORDER, fields)
    visitor.world.clock.advance(NIGHT)
    late = await visitor.post(NEW_ORDER, fields)
    form = await go_on(visitor, await sign_in(visitor, late))
    again = await visitor.post(NEW_ORDER, form_of(form))
    assert (again.status, again.goes_to, await orders(visitor)) == (303, first.goes_to, 1)


async def test_after_the_second_step(visitor: Visitor) -> None:
    secret = secret_in(await press(visitor, "begin"))
    await press(visitor, "confirm", code=code_now(visitor.world, secret))
    step = await sign_in(visitor, await sent_too_late(visitor))
    assert step.heading == "Second step"
    wrong = await visitor.post("/second-step", {**carried(step), "code": "000000"})
    done = await visitor.post("/second-step", {**carried(wrong), "code": code_now(visitor.world, secret)})
    assert form_of(await go_on(visitor, done))["customer_reference"] == SCRIPT


async def test_a_session_that_gave_way_to_others(visitor: Visitor) -> None:
    fields = {**form_of(await visitor.get(NEW_ORDER)), **TYPED}
    for _ in range(MOST_OF_A_USER):
        visitor.world.clock.advance(60)
        await Visitor(visitor.world).sign_in(EMAIL, PASSWORD)
    late = await visitor.post(NEW_ORDER, fields)
    assert "You signed in on more than 20 devices or browsers" in late.text
    assert form_of(await go_on(visitor, await sign_in(visitor, late)))["partner"] == "P1"


async def test_secrets_do_not_come_along(visitor: Visitor) -> None:
    typed = {
        "name": "Shop",
        "url": "https://hooks.example/T0/B0/x9y8z7",
        "auth_type": "bearer",
        "token": "t" * 40,
        "secret": "s" * 40,
        "headers": "X-Key: k9k9k9",
        "events:article.created": "on",
    }
    late = await sent_too_late(visitor, NEW_WEBHOOK, typed)
    assert late.status == 401
    token = form_of(await signed_in_again(visitor))["form_token"]
    for hidden in (typed["url"], typed["token"], typed["secret"], "k9k9k9", token):
        assert hidden not in late.text
    assert not [name for name in carried(late) if "token" in name]
    form = form_of(await go_on(visitor, await sign_in(visitor, late), NEW_WEBHOOK))
    assert (form["name"], form["auth_type"], form["events:article.created"]) == ("Shop", "bearer", "on")
    assert form["secret"] != typed["secret"], "another one is offered"


async def signed_in_again(visitor: Visitor) -> Seen:
    other = Visitor(visitor.world)
    await other.sign_in(EMAIL, PASSWORD)
    return await other.get(NEW_WEBHOOK)


async def test_somebody_else_does_not_get_it(visitor: Visitor) -> None:
    await visitor.world.new_user("bo@example.com", "platform-admin")
    late = await sent_too_late(visitor)
    done = await sign_in(visitor, late, "bo@example.com")
    assert (done.status, done.goes_to) == (303, NEW_ORDER)


@pytest.mark.parametrize("secret", [None, "stolen"])
async def test_of_a_stranger_nothing_is_read(visitor: Visitor, secret: str | None) -> None:
    stranger = Visitor(visitor.world) if secret is None else with_secret(visitor.world, secret)
    seen = await stranger.post(NEW_ORDER, {**TYPED, "notes": "x" * 2 * LARGEST_FORM})
    assert (seen.status, seen.goes_to) == (303, "/sign-in?next=/today")
    large = {"form.notes": "x" * 2 * LARGEST_FORM, "next": NEW_ORDER, "email": EMAIL, "password": PASSWORD}
    assert (await stranger.post("/sign-in", large)).status == 413
    small = await stranger.post("/sign-in", {**large, "form.notes": "x"})
    assert (small.status, small.goes_to) == (303, NEW_ORDER)


async def test_it_may_be_as_large_as_the_form_and_no_larger(visitor: Visitor) -> None:
    many = {f"lines.{number}.article_code": "A" for number in range(1000)}
    full = {f"lines.{number}.lot_number": "x" * 900 for number in range(1000)}
    late = await sent_too_late(visitor, typed={**many, **full})
    assert late.status == 401
    form = await go_on(visitor, await sign_in(visitor, late))
    assert form_of(form)["lines.999.lot_number"] == "x" * 900
    assert (await sent_too_late(visitor, typed=dict.fromkeys(map(str, range(MOST_WITH_ROWS)), ""))).status == 400
    await visitor.sign_in(EMAIL, PASSWORD)
    assert (await sent_too_late(visitor, NEW_WEBHOOK, {"name": "x" * LARGEST_FORM})).status == 413


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_no_other_site_has_a_form_filled(visitor: Visitor, site: str) -> None:
    fields = {**form_of(await visitor.get(NEW_ORDER)), **TYPED}
    again = await visitor.post(NEW_ORDER, {**TYPED, "again": "1"}, site=site)
    assert again.status == 403
    visitor.world.clock.advance(NIGHT)
    assert (await visitor.post(NEW_ORDER, fields, site=site)).status == 403
    sent = {"form.notes": "x", "next": NEW_ORDER, "email": EMAIL, "password": PASSWORD}
    assert (await visitor.post("/sign-in", sent, site=site)).status == 403


async def test_nothing_is_done_by_the_page_that_goes_on(visitor: Visitor) -> None:
    """The page may lead to any address: without a form token, every page refuses the form, except pages that
    display a form.
    """
    late = await sent_too_late(visitor)
    fields = {**carried(late), "email": EMAIL, "password": PASSWORD}
    for path in ("/account/sessions", "/companies/1/webhooks/1/rotate-secret", "/account/password"):
        done = await visitor.post("/sign-in", {**fields, "next": path})
        assert done.status == 200
        assert "form_token" not in carried(done)
        assert (await visitor.post(path, {**carried(done), "which": "others"})).status == 403
    away = await visitor.post("/sign-in", {**fields, "next": "//evil.example/x"})
    assert (away.status, away.goes_to) == (303, "/today")
