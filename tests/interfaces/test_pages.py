"""The guide."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import wmsd
from tests.support.world import World
from wmsd import docs
from wmsd.base import strict_json
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.contract.route import RouteTable
from wmsd.contract.validation import validate_model
from wmsd.dispatch.prepared_answers import Prepared
from wmsd.interfaces.guide.contents import ORDER, address_of
from wmsd.interfaces.service import SERVED

EXAMPLE = re.compile(r"curl -X ([A-Z]+) \S*?(/api/\S+)[^`]*?-d '([^']*)'")
LINK = re.compile(r'href="(/docs(?!/api)[^"#]*)[#"]')
TOLD = re.compile(r"[\s\"'(=](/docs(?!/api)(?:/[a-z-]+)?(?:#[a-z-]+)?)(?=[\s\"').:])")
PLACE = re.compile(r'href="((?:/docs(?!/api)[^"#]*)?#[^"]+)"')
"""A pattern for links inside of the guide. The links of the reference's pages have separate tests."""


async def look(world: World, path: str) -> tuple[int, str]:
    async with world.session.get(f"{world.base_url}{path}") as response:
        assert response.headers.get("Content-Security-Policy") or response.status == 404
        return response.status, await response.text()


@pytest.mark.parametrize("path", ["/docs", "/docs/api", "/openapi.json", "/api/v2/openapi.json", "/api"])
async def test_what_is_the_same_for_all_is_sent_once(world: World, path: str) -> None:
    first = await world.send("GET", path, token="", company="")
    assert (first.status, first.headers["Cache-Control"]) == (200, "no-cache")
    for known in (first.headers["ETag"], f"W/{first.headers['ETag']}", f'"x", {first.headers["ETag"]}'):
        again = await world.send("GET", path, token="", company="", headers={"If-None-Match": known})
        assert (again.status, again.raw, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    other = await world.send("GET", path, token="", company="", headers={"If-None-Match": '"x"'})
    assert (other.status, other.raw) == (200, first.raw)


async def test_what_is_the_same_for_all_is_made_once() -> None:
    made = 0

    def make() -> bytes:
        nonlocal made
        made += 1
        return b"made"

    prepared = Prepared(make)
    replies = await asyncio.gather(*(prepared.reply() for _ in range(50)))
    assert {reply.body for reply in replies} == {b"made"}
    assert made == 1


async def test_no_answer_is_kept_or_guessed_at(world: World) -> None:
    for path in ("/api/articles", "/api/nothing", "/docs", "/api/health"):
        answer = await world.send("GET", path)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] in ("no-store", "no-cache", "private, no-cache")
        assert "Strict-Transport-Security" not in answer.headers, "this is plain HTTP"


async def test_a_long_address_is_no_mistake_of_ours(world: World) -> None:
    for path in ("/docs/" + "a" * 300, "/docs/" + "%00" * 20, "/docs/.", "/docs/architecture.md"):
        assert (await world.send("GET", path)).status == 404


PAGES = [address_of(name) for name in ORDER]


async def test_the_guide_is_served(world: World) -> None:
    for page in PAGES:
        status, text = await look(world, page)
        assert (status, "<h1 id=" in text) == (200, True)
    for path in ("/docs/nothing", "/docs/..%2Fcli", "/docs/__init__"):
        assert (await look(world, path))[0] == 404


async def test_the_guide_leads_to_every_page_and_no_link_to_nothing(world: World) -> None:
    linked = {page: set(LINK.findall((await look(world, page))[1])) for page in PAGES}
    assert linked["/docs"] == set(PAGES)
    assert set().union(*linked.values()) == linked["/docs"]


async def test_a_link_to_a_heading_finds_it(world: World) -> None:
    shown = {page: (await look(world, page))[1] for page in PAGES}
    places = {
        f"{page if place.startswith('#') else ''}{place}"
        for page, text in shown.items()
        for place in PLACE.findall(text)
    }
    assert len(places) > len(STATUS_OF_CODE), "the reference has one for each code"
    for place in places:
        page, _, anchor = place.partition("#")
        assert f' id="{anchor}"' in shown[page], place


async def test_what_the_service_says_of_the_guide_is_there(world: World) -> None:
    """The links are in templates, in sentences of the command line, and in descriptions."""
    source = Path(wmsd.__file__).parent
    told = {
        found
        for file in [*source.rglob("*.py"), *source.rglob("*.html")]
        for found in re.findall(
            r"[\s\"'(=](/docs(?:/[a-z-]+)?(?:#[a-z-]+)?)(?=[\s\"').:])", file.read_text("utf-8")
        )
    }
    assert {"/docs/errors", "/docs/replica", "/docs/sign-on"} <= told
    for place in told - {"/docs/search"}:
        page, _, anchor = place.partition("#")
        status, text = await look(world, page)
        assert (status, not anchor or f' id="{anchor}"' in text) == (200, True), place


async def test_every_code_has_its_paragraph_and_no_other(world: World) -> None:
    _, text = await look(world, "/docs/errors")
    found = re.findall(r'<h2 id="(\w+)">(\w+)</h2>.*\n<p>Status (\d+)\.', text)
    assert found == [(code.lower(), code, str(status)) for code, status in STATUS_OF_CODE.items()]


def examples() -> Iterator[tuple[str, str, str]]:
    """Yield method, path and body of every complete request in the guide."""
    for page in sorted(Path(docs.__file__).parent.glob("*.md")):
        for method, path, body in EXAMPLE.findall(page.read_text(encoding="utf-8")):
            if "…" not in body:
                yield method, path, body


def test_the_requests_of_the_guide_are_such_as_the_api_takes() -> None:
    taken = set()
    for method, path, body in examples():
        route, _ = RouteTable(SERVED).find(method, path)
        assert route.operation.body is not None
        document, errors = strict_json.parse_json(body.encode())
        validate_model(route.operation.body, document, errors)
        taken.add(route.operation.name)
    kinds = ("sales_order", "purchase_order", "reception", "return")
    assert {f"create_{kind}" for kind in kinds} | {"change_sales_order_status", "update_return"} <= taken
