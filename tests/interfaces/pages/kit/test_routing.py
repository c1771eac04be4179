"""Public pages are counted by address and kind, and by the session of a signed-in user."""

import gc
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.interfaces.pages.records.test_browse import EMAIL, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor, with_secret
from tests.support.shop import Shop
from tests.support.world import PASSWORD, UNLIMITED, World, open_world
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit import rendering, routing
from wmsd.interfaces.service import FOR_BROWSERS

MOST = 4


@pytest.fixture
async def narrow(tmp_path: Path) -> AsyncIterator[World]:
    limits = {**UNLIMITED["limits"], "open_per_minute": MOST, "refused_per_minute": 3}
    async with open_world(tmp_path / "data", {"limits": limits}) as world:
        await world.new_user(EMAIL, "platform-admin")
        yield world


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in a platform admin."""
    return await signed_in(shop.world)


async def test_a_page_leaves_no_request_to_a_collection(visitor: Visitor) -> None:
    """A page leaves no request for a garbage collection, because every caller waits during a collection."""
    records = "/companies/1/articles"
    paths = (records, f"{records}/1", "/today", "/admin/users", "/docs", "/companies/9/x")
    for path in paths:
        await visitor.get(path)  # create everything that is created once
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for path in paths:
            await visitor.get(path)
        gc.collect()
        assert [each.path for each in gc.garbage if isinstance(each, web.Request)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def statuses(visitor: Visitor, path: str, times: int) -> list[int]:
    return [(await visitor.get(path)).status for _ in range(times)]


@pytest.mark.parametrize("path", ["/docs", "/docs/api", "/docs/search?q=stock", "/docs/webhooks"])
async def test_reading_the_guide_leaves_the_sign_in_page_alone(narrow: World, path: str) -> None:
    stranger = Visitor(narrow)
    assert await statuses(stranger, path, MOST + 1) == [200] * MOST + [429]
    assert await statuses(stranger, "/sign-in", MOST) == [200] * MOST
    assert (await stranger.get("/sign-in")).status == 429


async def test_a_refusal_is_a_page_with_the_seconds_to_wait(narrow: World) -> None:
    stranger = Visitor(narrow)
    await statuses(stranger, "/docs", MOST)
    seen = await stranger.get("/docs")
    assert (seen.status, seen.heading) == (429, "Too many requests")
    wait = seen.headers["Retry-After"]
    assert f"the limit is {MOST} a minute. Try again in {wait} s." in text_of(seen.text)
    assert "Content-Security-Policy" in seen.headers
    told = await stranger.get("/docs", {"Accept-Language": "ro"})
    assert told.heading == "Prea multe cereri"


async def test_who_is_signed_in_is_not_counted_by_address(narrow: World) -> None:
    admin = Visitor(narrow)
    assert (await admin.sign_in(EMAIL, PASSWORD)).status == 303
    assert await statuses(Visitor(narrow), "/docs", MOST + 1) == [200] * MOST + [429]
    for path in ("/docs", "/docs/api", "/sign-in"):
        assert set(await statuses(admin, path, 2 * MOST)) <= {200, 303}
    assert (await Visitor(narrow).get("/sign-in")).status == 200, "nor do others pay for it"


async def test_a_session_that_is_none_gets_nobody_past_the_limit(narrow: World) -> None:
    found = [(await with_secret(narrow, f"guessed-{number}").get("/sign-in")).status for number in range(9)]
    assert found[-1] == 429


async def test_style_and_scripts_do_not_use_up_the_sign_in_page(narrow: World) -> None:
    stranger = Visitor(narrow)
    seen = await stranger.get("/sign-in")
    style = seen.text.split('rel="stylesheet" href="')[1].split('"')[0]
    await statuses(stranger, style, MOST)
    assert (await stranger.get("/sign-in")).status == 200


HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def ways_on(seen: Seen) -> list[tuple[str, str]]:
    """Return address and text of each button below a refusal."""
    (acts,) = re.findall(r'<p class="acts">(.*?)</p>', seen.text, re.DOTALL)
    return re.findall(r'href="(.*?)">(.*?)</a>', acts)


def has_frame(seen: Seen) -> bool:
    return '<nav class="rail"' in seen.text and EMAIL in seen.text


@pytest.mark.parametrize("path", ["/nothing", "/companies/x", "/companies/1/articles/1/change/x", "/favicon.ico"])
async def test_an_address_without_a_page_is_told_in_the_frame_of_the_house(visitor: Visitor, path: str) -> None:
    seen = await visitor.get(path, HTML)
    assert (seen.status, seen.heading, has_frame(seen)) == (404, "Page not found", True)
    assert "There is no such page." in seen.text
    assert ways_on(seen) == [("/today", "To the first page")]
    told = await visitor.get(path, {**HTML, "Accept-Language": "ro"})
    assert told.heading == "Pagina nu a fost găsită"
    stranger = await Visitor(visitor.world).get(path, HTML)
    assert (stranger.status, has_frame(stranger)) == (404, False)
    assert ways_on(stranger) == [("/sign-in", "Sign in"), ("/docs", "The guide")]


@pytest.mark.parametrize("path", ["/nothing", "/api/nothing", "/openapi.json/nothing"])
async def test_a_program_that_asks_there_gets_no_page(visitor: Visitor, path: str) -> None:
    assert "<h1>" not in (await visitor.get(path)).text
    told = (await visitor.get(path, HTML)).text
    assert ("<h1>" in told) == (path == "/nothing")


async def test_a_record_that_is_not_there_leads_to_its_list(visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/articles/99")
    assert (seen.status, seen.heading, has_frame(seen)) == (404, "Page not found", True)
    assert "There is no such article." in seen.text
    assert ways_on(seen) == [("/companies/1/articles", "Articles"), ("/today", "To the first page")]
    assert '<a href="/companies/1/articles" aria-current' not in seen.text


async def test_a_right_that_lacks_is_named_with_who_gives_it(shop: Shop) -> None:
    visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    seen = await visitor.get("/companies/1/partners")
    assert (seen.status, seen.heading, has_frame(seen)) == (403, "Not allowed", True)
    assert "You lack the ability partners:read." in seen.text
    assert "Ask a platform admin" in seen.text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/sign-out", "POST"),
        ("GET", "/account/language", "POST"),
        ("POST", "/today", "GET, HEAD"),
        ("POST", "/companies/1/articles", "GET, HEAD"),
        ("PUT", "/companies/1/articles/1", "GET, HEAD"),
        ("DELETE", "/companies/1/articles/new", "GET, HEAD, POST"),
        ("POST", "/docs/stock", "GET, HEAD"),
        ("POST", "/docs/api/articles", "GET, HEAD"),
        ("OPTIONS", "/", "GET, HEAD"),
    ],
)
async def test_another_method_is_refused_on_a_page(visitor: Visitor, method: str, path: str, allowed: str) -> None:
    seen = await visitor.send(method, path)
    assert (seen.status, seen.headers["Allow"], has_frame(seen)) == (405, allowed, True)
    assert seen.heading == "Not possible here"


async def test_too_much_is_told_with_the_way_back_to_the_form(visitor: Visitor) -> None:
    page = "/companies/1/articles/new"
    referer = {"Referer": visitor.world.base_url + page}
    seen = await visitor.post(page, {"name": "x" * 70_000}, referer)
    assert (seen.status, seen.heading, has_frame(seen)) == (413, "Too much data", True)
    assert ways_on(seen)[0] == (page, "Back to the form")


async def test_a_form_that_no_page_of_this_service_has_sent_is_told_what_helps(visitor: Visitor) -> None:
    seen = await visitor.post("/companies/1/articles/new", {"name": "x"}, site="cross-site")
    assert (
        seen.status,
        (
            "This form was not sent from a page of this service, so nothing was changed. Open the page again, and "
            "send the form from there."
        )
        in seen.text,
    ) == (403, True)
    assert "Open the page again, and send the form from there." in seen.text
    assert "Ask a platform admin" not in seen.text


async def test_a_form_of_another_session_leads_to_the_form_and_what_was_typed(visitor: Visitor) -> None:
    page = "/companies/1/articles/new"
    referer = {"Referer": visitor.world.base_url + page}
    seen = await visitor.post(page, {"form_token": "of another"}, referer)
    assert (seen.status, ways_on(seen)[0]) == (403, (page, "Back to the form"))
    assert f'data-lost-form="{page}"' in seen.text
    assert "You have signed in again since you opened this form." in seen.text


async def test_nothing_stands_behind_what_refuses_all_other_addresses(shop: Shop) -> None:
    routes = await shop.world.app[FOR_BROWSERS].prepare()
    resources = [each.resource for each in routes.routes()]
    paths = [each.canonical for each in resources if each is not None]
    assert set(paths[paths.index("/{anything}") :]) == {"/{anything}"}


async def test_a_page_that_is_added_too_late_fails_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complete = routing.refuse_all_else

    async def late(request: web.Request) -> web.StreamResponse:
        return web.Response()

    def complete_and_add(app: web.Application) -> None:
        complete(app)
        routing.add_page(app, "GET", "/late", late)

    monkeypatch.setattr(routing, "refuse_all_else", complete_and_add)
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        with pytest.raises(RuntimeError, match="/late can never be reached"):
            await world.app[FOR_BROWSERS].prepare()


def test_all_templates_are_compiled_before_somebody_opens_a_page() -> None:
    rendering.load_templates()
    files = [*Path(str(rendering.FOLDER)).rglob("*.html")]
    assert len(files) > 50
    assert len(rendering._environment().cache or ()) >= len(files)
