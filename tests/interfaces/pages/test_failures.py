"""The page after an error of the server: it displays the number that is also in the log."""

import re

import pytest

from tests.interfaces.pages.kit.test_routing import HTML, has_frame, ways_on
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop

REQUEST_ID = "X-Request-ID"
SECRET = "secret detail"
LIST = "/companies/1/articles"
IN_ROMANIAN = {**HTML, "Accept-Language": "ro"}


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


def broken(*_: object, **__: object) -> None:
    raise RuntimeError(SECRET)


def break_(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setattr(f"wmsd.{name}", broken)


def number_in(seen: Seen) -> str:
    found = re.search(r"number: <code>([\w-]+)</code>", seen.text)
    assert found, seen.text
    return found[1]


@pytest.mark.parametrize("what", ["interfaces.pages.records.browse.page_of", "warehouse.articles.store.page"])
async def test_a_failure_is_told_in_the_frame_with_the_number_of_the_log(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    break_(monkeypatch, what)
    seen = await visitor.get(LIST, HTML)
    assert (seen.status, seen.heading, has_frame(seen)) == (500, "Server error", True)
    assert ways_on(seen) == [(LIST, "Articles"), ("/today", "To the first page")]
    assert number_in(seen) == seen.headers[REQUEST_ID]
    assert SECRET not in seen.text
    (logged,) = (each for each in caplog.records if each.exc_info)
    assert logged.__dict__["request_id"] == number_in(seen)
    told = await visitor.get(LIST, IN_ROMANIAN)
    assert (told.heading, "Serverul a avut o eroare internă" in told.text) == ("Eroare de server", True)


async def test_a_failure_before_anybody_is_known(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    break_(monkeypatch, "interfaces.pages.people.sign_in.render_page")
    seen = await Visitor(visitor.world).get("/sign-in", HTML)
    assert (seen.status, seen.heading, has_frame(seen)) == (500, "Server error", False)
    assert number_in(seen) == seen.headers[REQUEST_ID]


@pytest.mark.parametrize(("which", "store"), [("others", "end_all"), ("1", "end")])
async def test_sessions_that_could_not_be_ended_are_not_said_to_have_ended(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, which: str, store: str
) -> None:
    form = await visitor.get("/account")
    break_(monkeypatch, f"tenants.accounts.sessions.{store}")
    sent = {"form_token": form.form_token, "which": which}
    seen = await visitor.post("/account/sessions", sent, {**HTML, "Referer": f"{visitor.world.base_url}/account"})
    assert (seen.status, seen.heading) == (500, "Server error")


async def test_what_was_sent_is_looked_for_before_it_is_sent_again(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"{LIST}/new"
    form = await visitor.get(page)
    break_(monkeypatch, "interfaces.pages.records.act.go_to")
    sent = {"form_token": form.form_token, "code": "A-1", "name": "Apple"}
    seen = await visitor.post(page, sent, {**HTML, "Referer": visitor.world.base_url + page})
    assert (seen.status, ways_on(seen)[0]) == (500, (page, "Back to the form"))
    assert "Check before you send the form again" in text_of(seen.text)
    assert f'data-lost-form="{page}"' in seen.text
    assert "A-1" in (await visitor.get(LIST)).text, "it was done"


@pytest.mark.parametrize(
    ("broken_too", "heading"),
    [
        (["interfaces.pages.kit.refusal_page.render_page"], "Eroare de server"),
        (["interfaces.pages.kit.rendering._environment"], "Eroare de server"),
        (["interfaces.pages.kit.rendering._environment", "interfaces.pages.kit.text.language._catalogue"], None),
        (
            [
                "interfaces.pages.kit.page_client.PageClient.find_person",
                "interfaces.pages.kit.page_client.PageClient.person",
            ],
            "Eroare de server",
        ),
        (["interfaces.pages.kit.refusal_page.failed"], None),
    ],
)
async def test_a_failure_that_fails_the_page_of_failures_too(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, broken_too: list[str], heading: str | None
) -> None:
    break_(monkeypatch, "interfaces.pages.records.browse.page_of", *broken_too)
    seen = await visitor.get(LIST, IN_ROMANIAN)
    assert (seen.status, seen.heading) == (500, heading or "Server error")
    assert seen.headers[REQUEST_ID] in seen.text
    assert seen.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in seen.headers["Content-Security-Policy"]
    assert SECRET not in seen.text
    assert "stylesheet" not in seen.text


async def test_a_program_gets_the_answer_of_the_api(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    break_(monkeypatch, "interfaces.pages.records.browse.page_of", "warehouse.articles.store.one")
    seen = await visitor.get(LIST, {"Accept": "*/*"})
    assert (seen.status, '"code":"SERVER_ERROR"' in seen.text) == (500, True)
    token = visitor.world.token
    asked = {**HTML, "Authorization": f"Bearer {token}", "X-Company-Id": "1"}
    seen = await visitor.get("/api/articles/1", asked)
    assert (seen.status, '"code":"SERVER_ERROR"' in seen.text) == (500, True)


async def test_a_server_that_is_short_of_something_says_so(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("wmsd.interfaces.pages.records.browse.page_of", short)
    seen = await visitor.get(LIST, HTML)
    assert (seen.status, seen.heading) == (503, "Not possible now")
    assert "short of memory" in seen.text
    assert seen.headers[REQUEST_ID] in seen.text
    assert seen.headers["Retry-After"] == "5"
