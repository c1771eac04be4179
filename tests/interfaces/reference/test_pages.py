"""The pages of the reference describe every operation, error and event, and every link on them works."""

import html
import json
import re
from pathlib import Path

import pytest

from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.contract.access import ABILITIES, MODULES
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.openapi.error_responses import codes_of
from wmsd.interfaces.openapi.webhook_events import EVENT_DATA
from wmsd.interfaces.pages.kit.assets import FOLDER
from wmsd.interfaces.reference.operations import slug
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2

ROUTES = (*V1, *V2)
HEAVIEST = 100_000
LINK = re.compile(r'href="(/docs/api[^"]*|/try/[^"]*)"')


def page_of(operation: str) -> str:
    route = next(each for each in ROUTES if each.operation.name == operation)
    return f"/docs/api/{slug(route.operation.tag)}/{operation}"


@pytest.fixture
def stranger(world: World) -> Visitor:
    """Return a visitor who is not signed in."""
    return Visitor(world)


def text_of(seen: Seen) -> str:
    return " ".join(html.unescape(re.sub(r"<.*?>", " ", seen.text)).split())


async def test_every_link_and_anchor_exists_and_every_page_is_light(stranger: Visitor) -> None:
    style = sum(len((FOLDER / name).read_bytes()) for name in ("look.css", "pages.js", "reference.js"))
    shown: dict[str, Seen] = {}
    linked: set[str] = set()
    waiting = ["/docs/api"]
    while waiting:
        path = waiting.pop()
        if path in shown or path.startswith("/try/"):
            continue
        shown[path] = seen = await stranger.get(path)
        assert seen.status == 200, path
        if seen.headers["Content-Type"].startswith("text/html"):
            assert len(seen.text.encode()) + style < HEAVIEST, path
            assert re.search(r"<h1 id=", seen.text), path
            ids = re.findall(r' id="([^"]+)"', seen.text)
            assert len(ids) == len(set(ids)), f"an id of {path} is there twice"
            found = LINK.findall(seen.text)
            linked |= set(found)
            waiting += [each.partition("#")[0] for each in found]
    assert {page_of(route.operation.name) for route in ROUTES} <= shown.keys()
    for address in linked:
        path, _, anchor = address.partition("#")
        assert not anchor or f' id="{anchor}"' in shown[path].text, address
    tried = {address for address in linked if address.startswith("/try/v")}
    assert len(tried) == len({(route.method, route.path) for route in ROUTES})


@pytest.mark.parametrize("operation", sorted({route.operation.name for route in ROUTES}))
async def test_an_operation_tells_all_of_its_declaration(stranger: Visitor, operation: str) -> None:
    seen = await stranger.get(page_of(operation))
    text = text_of(seen)
    routes = [route for route in ROUTES if route.operation.name == operation]
    declared = routes[0].operation
    assert f">{declared.summary}</h1>" in html.unescape(seen.text)
    for route in routes:
        assert f"{route.method} {route.path}" in text
    fields = {
        *declared.path_types,
        *(declared.query.model_fields if declared.query else ()),
        *(declared.body.model_fields if declared.body else ()),
        *(declared.returns.model_fields if declared.returns and declared.answer != "nothing" else ()),
    }
    if declared.query is not None and "fields" in declared.query.model_fields:
        fields -= set(declared.returns.model_fields) - {"id"} if declared.returns else set()
    codes = re.findall(r"<td><code>([^<]+)</code>", seen.text)
    named = {part.removesuffix("[]") for each in codes for part in each.split(".")}
    assert fields <= named, fields - named
    for told in (*codes_of(declared), *declared.events):
        assert told in text
    for language in ("curl", "javascript", "python", "php"):
        assert f'id="example-{language}"' in seen.text


async def test_a_field_has_its_limits_its_mark_and_its_choices(stranger: Visitor) -> None:
    text = text_of(await stranger.get(page_of("create_sales_order")))
    assert "lines required array of objects 1 to 1 000 items" in text
    assert (
        "external_ref string or null The number of this record in another program, such as a web shop. "
        "Two records of the same kind cannot have the same number. 1 to 64"
    ) in text
    assert "one of CREAT , IN_LUCRU , INCARCAT , LIVRAT , ANULAT" in text
    assert "lines[].quantity required" in text
    assert "ship_to.city" in text
    assert "The ability sales-orders:write . The modules outbound and api ." in text
    assert "One request of the company's limit." in text
    listed = text_of(await stranger.get(page_of("list_articles")))
    assert "per_page integer 1 to 200" in listed


async def test_every_code_is_told_with_what_to_do(stranger: Visitor) -> None:
    seen = await stranger.get("/docs/api/errors")
    found = re.findall(r'<h2 id="(\w+)"><code>(\w+)</code></h2><span class="soft">Status (\d+)</span>', seen.text)
    assert found == [(code.lower(), code, str(status)) for code, status in STATUS_OF_CODE.items()]
    assert "get a token with more abilities" in text_of(seen), "it is the paragraph of the guide"
    for code in STATUS_OF_CODE:
        example = re.search(rf'id="example-{code.lower()}">(.*?)</code>', seen.text, re.DOTALL)
        assert example
        assert json.loads(html.unescape(example[1]))["code"] == code


async def test_every_event_is_told_with_its_fields(stranger: Visitor) -> None:
    seen = await stranger.get("/docs/api/webhook-events")
    assert sorted(re.findall(r'<h2 id="([a-z_]+\.[a-z_]+)">', seen.text)) == sorted(EVENTS)
    fields = set(re.findall(r"<code>data\.([a-z0-9_]+)</code>", seen.text))
    assert {name for data in EVENT_DATA.values() for name in data.model_fields} <= fields
    assert "Caused by Create a sales order ;" in text_of(seen)


async def test_abilities_and_modules(stranger: Visitor) -> None:
    seen = await stranger.get("/docs/api/access")
    for name in ABILITIES:
        assert (f'id="{name.replace(":", "-")}"' in seen.text) == (name != "returns:write")
    assert all(f'<tr id="{name}">' in seen.text for name in MODULES)


async def test_an_ability_that_is_not_in_force_is_not_told_of(tmp_path: Path) -> None:
    strict = {**UNLIMITED, "returns": {"require_write_ability": True}}
    async with open_world(tmp_path / "data", strict) as world:
        for page in ("/docs/api/access", "/docs/api/returns", page_of("create_return")):
            assert "returns:write" in (await Visitor(world).get(page)).text
    async with open_world(tmp_path / "other", UNLIMITED) as world:
        for page in ("/docs/api/access", "/docs/api/returns", page_of("create_return")):
            assert "returns:write" not in (await Visitor(world).get(page)).text


@pytest.mark.parametrize(
    ("query", "found", "missing"),
    [
        ("min_stock", "List articles", "List receptions"),
        ("INSUFFICIENT", "INSUFFICIENT_STOCK", "UNAUTHORIZED"),
        ("stock.low", "stock.low", "article.created"),
        ("post sales", "Create a sales order", "List sales orders"),
        ("  POST   /API/SALES-ORDERS ", "Create a sales order", "Create a return"),
    ],
)
async def test_the_search_finds_operations_fields_errors_and_events(
    stranger: Visitor, query: str, found: str, missing: str
) -> None:
    seen = await stranger.get(f"/docs/api?q={query.replace(' ', '+')}")
    titles = [
        html.unescape(each)
        for each in re.findall(r'<li data-entry.*?<a href="[^"]*">(.*?)</a>', seen.text, re.DOTALL)
    ]
    assert (seen.status, found in titles, missing in titles) == (200, True, False)
    assert f"Found: {len(titles)}" in text_of(seen)


async def test_a_found_operation_names_the_fields_that_were_meant(stranger: Visitor) -> None:
    assert "Fields: min_stock" in text_of(await stranger.get("/docs/api?q=min_st"))


@pytest.mark.parametrize("query", ["<script>alert(1)</script>", "%00", "%FF", "a" * 5000, "*" * 90, '" OR 1=1'])
async def test_a_hostile_search_is_only_text(stranger: Visitor, query: str) -> None:
    seen = await stranger.get(f"/docs/api?q={query}")
    assert (seen.status, "No entry has all of these words." in seen.text) == (200, True)
    assert "<script>alert" not in seen.text


@pytest.mark.parametrize("path", ["/nothing", "/articles/nothing", "/stock/list_articles", "/articles/x/y", "/.."])
async def test_there_is_nothing_else(stranger: Visitor, path: str) -> None:
    assert (await stranger.get(f"/docs/api{path}")).status == 404


async def test_a_page_that_has_not_changed_is_not_sent_again(stranger: Visitor) -> None:
    for path in ("/docs/api", "/docs/api/articles", page_of("create_article"), "/docs/api/errors"):
        first = await stranger.get(path)
        again = await stranger.get(path, {"If-None-Match": first.headers["Etag"]})
        assert (again.status, again.text) == (304, "")
