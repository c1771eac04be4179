"""Every form of bad input of section 1 of the decisions, for every writing endpoint: a clear error, no partial
effect, and never a 500.
"""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio

from tests.interfaces.writing import ARTICLE, DOCUMENTS, WEBHOOK, WRITING
from tests.support.planner import new_site
from tests.support.world import ETSM, UNLIMITED, Answer, World, all_rows, open_world
from wmsd.interfaces.service import SERVED

LENT = pytest.mark.asyncio(loop_scope="module")
"""The marker of a test in the shared world, which runs on that world's event loop."""
ENDPOINTS = pytest.mark.parametrize("endpoint", WRITING, ids=lambda key: " ".join(key))


def test_the_table_has_every_writing_endpoint() -> None:
    """A batch has separate tests, because it carries several requests."""
    writing = {(route.method, route.path) for route in SERVED if route.operation.body is not None}
    assert writing - {("POST", "/api/v2/batch")} == set(WRITING)


@dataclass
class Stocked:
    """A world, and the token of its site."""

    world: World
    site_token: str
    records: list[Any] = field(default_factory=list)
    is_unchanged: bool = False

    async def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        of_a_site: dict[str, Any] = {"token": self.site_token, "company": ""} if path.startswith(ETSM) else {}
        return await self.world.call(method, path, body, **of_a_site, **options)

    async def all_records(self) -> list[Any]:
        """Return every row of every table, of the company and of the platform."""
        return [
            await database.read(all_rows)
            for database in (await self.world.database(), self.world.installation.platform)
        ]


async def open_stocked(world: World) -> Stocked:
    await world.open_kernel()
    await world.import_csv("partners", "code,name,type\nP1,First,CLIENT\n")
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name\nOLD,Old\n")
    await world.import_csv("stock", "article_code,warehouse_code,quantity\nOLD,MAIN,5\n")
    for path, body in DOCUMENTS.items():
        await world.send("POST", path, {**body, "external_ref": "OLD"})
    await world.send("POST", "/api/webhooks", {**WEBHOOK, "name": "OLD", "active": False})
    stocked = Stocked(world, await new_site(world, "MAIN", 1))
    await stocked.call("POST", f"{ETSM}/transports", {"transport_ecc": "OLD", "order_codes": []}, status=201)
    stocked.records = await stocked.all_records()
    return stocked


@dataclass
class Lent:
    """One world for all tests, as long as no test changes it: opening a world takes longer than a test."""

    factory: pytest.TempPathFactory
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    stocked: Stocked | None = None

    async def take(self) -> Stocked:
        if self.stocked is None or not self.stocked.is_unchanged:
            await self.stack.aclose()
            folder = self.factory.mktemp("stocked") / "data"
            world = await self.stack.enter_async_context(open_world(folder, UNLIMITED))
            self.stocked = await open_stocked(world)
        self.stocked.is_unchanged = False
        self.stocked.world.clock.advance(60)  # a new minute has fresh limits
        return self.stocked


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lent(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lent]:
    lent = Lent(tmp_path_factory)
    yield lent
    await lent.stack.aclose()


@pytest_asyncio.fixture(loop_scope="module")
async def stocked(lent: Lent) -> Stocked:
    return await lent.take()


async def nothing_changed(world: Stocked) -> None:
    transport = (await world.call("GET", f"{ETSM}/transports/OLD")).body
    assert (transport["status"], transport["vehicle"]) == ("CREAT", None)
    await world.call("GET", f"{ETSM}/transports/NEW", status=404)
    listed = (await world.call("GET", "/api/articles")).body
    assert [(article["code"], article["name"]) for article in listed["data"]] == [("OLD", "Old")]
    for path in DOCUMENTS:
        shown = (await world.call("GET", path)).body
        assert [(each["external_ref"], each["status"]) for each in shown["data"]] == [("OLD", "CREAT")]
    (webhook,) = (await world.call("GET", "/api/webhooks")).body["data"]
    assert (webhook["name"], webhook["previous_secret_expires_at"]) == ("OLD", None)
    assert (await world.call("GET", "/api/kernel/v1/companies/1/modules/returns")).body == {"enabled": True}
    (stock,) = (await world.call("GET", "/api/stock")).body["data"]
    assert (stock["quantity"], stock["reserved"]) == (5, 1)
    assert await world.all_records() == world.records
    world.is_unchanged = True


@dataclass(frozen=True)
class Shape:
    raw: bytes
    status: int
    says: str
    headers: tuple[tuple[str, str], ...] = ()


JSON = "application/json"
WHOLE_BODIES = {
    "no body": Shape(b"", 400, "not valid JSON"),
    "a list": Shape(b"[]", 400, "must be a JSON object"),
    "a number": Shape(b"5", 400, "must be a JSON object"),
    "null": Shape(b"null", 400, "must be a JSON object"),
    "cut off": Shape(b'{"name": "x', 400, "not valid JSON"),
    "not UTF-8": Shape(b'{"name": "\xe9"}', 400, "not UTF-8"),
    "UTF-16": Shape('{"name": "x"}'.encode("utf-16"), 400, "not UTF-8"),
    "too big": Shape(b'{"name": "' + b"x" * 1024 * 1024 + b'"}', 413, "The request body is over"),
    "deep": Shape(b'{"name":' + b"[" * 10_000, 422, "more than 32 levels of nesting"),
    "deep but whole": Shape(b'{"name":' + b"[" * 40 + b"]" * 40 + b"}", 422, "more than 32 levels of nesting"),
    "a form": Shape(b"name=x", 415, "as JSON", (("Content-Type", "application/x-www-form-urlencoded"),)),
    "no type": Shape(b"{}", 415, "as JSON", (("Content-Type", ""),)),
    "latin-1": Shape(b"{}", 415, "UTF-8", (("Content-Type", f"{JSON}; charset=latin-1"),)),
    "compressed": Shape(b"\x1f\x8b", 415, "Compressed", (("Content-Encoding", "gzip"),)),
    "compressed by two": Shape(b"x", 415, "Compressed", (("Content-Encoding", "deflate, gzip"),)),
}


@ENDPOINTS
@pytest.mark.parametrize("shape", WHOLE_BODIES, ids=str)
@LENT
async def test_bodies_that_are_no_object(stocked: Stocked, endpoint: tuple[str, str], shape: str) -> None:
    bad = WHOLE_BODIES[shape]
    answer = await stocked.call(
        endpoint[0], WRITING[endpoint].path, raw=bad.raw, status=bad.status, headers=dict(bad.headers)
    )
    assert answer.body["code"] == "VALIDATION_FAILED"
    assert bad.says in json.dumps(answer.body)
    assert answer.headers["X-Request-Id"]
    await nothing_changed(stocked)


FIELD_VALUES: dict[str, tuple[str, str]] = {
    "a number": ("1", "must be a string"),
    "null": ("null", "must be a string"),
    "a list": ("[]", "must be a string"),
    "an object": ("{}", "must be a string"),
    "true": ("true", "must be a string"),
    "nothing": ('""', "must have at least 1 character"),
    "too long": (json.dumps("x" * 256), "must have at most 255 characters"),
    "a control character": ('"a\\u0000b"', "must not contain control characters"),
    "a line break": ('"a\\nb"', "must not contain a line break"),
    "blanks around": ('" a "', "must not begin or end with a space"),
    "a lone surrogate": (
        '"\\ud800"',
        "contains a broken character (half of a surrogate pair): delete it and type it again",
    ),
    "NaN": ("NaN", "must be a number, not NaN"),
    "Infinity": ("-Infinity", "must be a number, not -Infinity"),
    "a huge number": ("9" * 400, "is outside the allowed range"),
    "a huge exponent": ("1e999999999", "is outside the allowed range"),
}


@ENDPOINTS
@pytest.mark.parametrize("value", FIELD_VALUES, ids=str)
@LENT
async def test_values_that_a_text_field_cannot_have(
    stocked: Stocked, endpoint: tuple[str, str], value: str
) -> None:
    writing = WRITING[endpoint]
    text, usual = FIELD_VALUES[value]
    sentence = writing.sentences.get(value, usual)
    if sentence is None:
        pytest.skip("the field may have it")
    rest = json.dumps({name: kept for name, kept in writing.body.items() if name != writing.text})[1:-1]
    raw = f'{{"{writing.text}": {text}{", " + rest if rest else ""}}}'.encode()
    answer = await stocked.call(endpoint[0], writing.path, raw=raw, status=422)
    assert answer.errors == {writing.text: [sentence]}
    await nothing_changed(stocked)


@ENDPOINTS
@LENT
async def test_a_key_given_twice(stocked: Stocked, endpoint: tuple[str, str]) -> None:
    writing = WRITING[endpoint]
    raw = json.dumps(writing.body)[:-1] + f', "{writing.text}": "again"}}'
    answer = await stocked.call(endpoint[0], writing.path, raw=raw.encode(), status=422)
    assert answer.errors == {writing.text: ["is given twice"]}
    await nothing_changed(stocked)


@ENDPOINTS
@LENT
async def test_unknown_fields_are_named_all_at_once(stocked: Stocked, endpoint: tuple[str, str]) -> None:
    writing = WRITING[endpoint]
    body = {**writing.body, "colour": 1, "__proto__": {}, writing.text: 5}
    answer = await stocked.call(endpoint[0], writing.path, body, status=422)
    assert set(answer.errors) == {"colour", "__proto__", writing.text}
    assert answer.body["message"] == "3 fields are not valid."
    await nothing_changed(stocked)


@ENDPOINTS
@LENT
async def test_unknown_query_parameters_are_named(stocked: Stocked, endpoint: tuple[str, str]) -> None:
    writing = WRITING[endpoint]
    answer = await stocked.call(endpoint[0], f"{writing.path}?dry_run=1", writing.body, status=422)
    assert list(answer.errors) == ["dry_run"]
    await nothing_changed(stocked)


@pytest.mark.parametrize("path", ["/api/articles", "/api/auth/token"])
@LENT
async def test_missing_fields_are_named_all_at_once(stocked: Stocked, path: str) -> None:
    answer = await stocked.call("POST", path, {}, status=422)
    required = {"code", "name"} if path == "/api/articles" else {"email", "password", "abilities"}
    assert answer.errors == {name: ["is required"] for name in required}


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("um3pl_factor", 0, "must be greater than 0"),
        ("um3pl_factor", -1, "must be greater than 0"),
        ("um3pl_factor", "1", "must be a number"),
        ("um3pl_factor", True, "must be a number"),
        ("um3pl_factor", None, "must be a number"),
        ("um3pl_factor", 1000000000, "must be at most 999999999.999999"),
        ("min_stock", -0.5, "must not be below 0"),
        ("min_stock", 0.0000001, "must have at most 6 decimal places"),
        ("active", 1, "must be true or false"),
        ("active", "true", "must be true or false"),
        ("client_id", 0, "must be a positive id"),
        ("client_id", 1.5, "must be a whole number"),
        ("client_id", "1", "must be a whole number"),
        ("client_id", 99, "is not a client of this company"),
        ("barcodes", "594", "must be an array"),
        ("barcodes", ["1", "1"], "must not contain the same barcode twice"),
        ("barcodes", [str(place) for place in range(51)], "must have at most 50 items"),
        ("code", "x" * 65, "must have at most 64 characters"),
        ("description", "x" * 4001, "must have at most 4000 characters"),
    ],
)
@LENT
async def test_article_fields(stocked: Stocked, field: str, value: object, sentence: str) -> None:
    answer = await stocked.call("POST", "/api/articles", {**ARTICLE, field: value}, status=422)
    assert answer.errors == {field: [sentence]}
    answer = await stocked.call("PATCH", "/api/articles/1", {field: value}, status=422)
    assert answer.errors == {field: [sentence]}
    await nothing_changed(stocked)


@LENT
async def test_errors_inside_a_list_have_their_path(stocked: Stocked) -> None:
    answer = await stocked.call("POST", "/api/articles", {**ARTICLE, "barcodes": ["1", 2, ""]}, status=422)
    assert answer.errors == {
        "barcodes.1": ["must be a string"],
        "barcodes.2": ["must have at least 1 character"],
    }


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("page=0", {"page": ["must be from 1 to 1000000000"]}),
        ("page=-1&per_page=x", {"page": ["must be a whole number"], "per_page": ["must be a whole number"]}),
        ("per_page=201", {"per_page": ["must be from 1 to 200"]}),
        ("page=1.0", {"page": ["must be a whole number"]}),
        ("page=%201", {"page": ["must be a whole number"]}),
        ("page=1_0", {"page": ["must be a whole number"]}),
        ("page=٣", {"page": ["must be a whole number"]}),
        ("page=" + "9" * 5000, {"page": ["must be a whole number"]}),
        ("page=1&page=2", {"page": ["is given twice"]}),
        ("search=" + "x" * 65, {"search": ["must have at most 64 characters"]}),
        ("sort=name", {"sort": ["cannot be 'name', only id, -id, code, -code, updated_at, -updated_at"]}),
        ("order=id", {"order": ["is an unknown field"]}),
        ("%ff=1", {"�": ["must be UTF-8 text"]}),
    ],
)
async def test_query_parameters(world: World, query: str, errors: object) -> None:
    answer = await world.call("GET", f"/api/articles?{query}", status=422)
    assert answer.errors == errors


@pytest.mark.parametrize(
    "path",
    [
        "/api/articles/0",
        "/api/articles/-1",
        "/api/articles/x",
        "/api/articles/1e3",
        "/api/articles/" + "9" * 400,
        "/api/articles/%00",
        "/api/articles/1%2F2",
        "/api/articles/٣",
        "/api/articles/%ff",
        "/api/nothing",
        "/api/v2/nothing",
    ],
)
async def test_addresses_of_nothing_are_404_in_the_error_form(world: World, path: str) -> None:
    answer = await world.send("GET", path)
    assert (answer.status, answer.body["code"]) == (404, "NOT_FOUND")
    assert answer.headers["X-Request-Id"]


@pytest.mark.parametrize("query", ["search=%ff", "search=%c3%28", "s%ffarch=x"])
async def test_a_query_that_is_not_utf_8_is_refused(world: World, query: str) -> None:
    answer = await world.caller.ask(world.caller.request("GET", f"/api/articles?{query}", None))
    assert (answer.status, [*answer.body["errors"].values()]) == (422, [["must be UTF-8 text"]])


async def test_the_sign_for_what_is_not_unicode_can_be_searched(world: World) -> None:
    assert (await world.call("GET", "/api/articles?search=x%EF%BF%BD")).body["data"] == []


@pytest.mark.parametrize(
    ("header", "status", "code"),
    [
        ("Authorization: Bearer x", 401, "UNAUTHORIZED"),
        ("X-Company-Id: 1", 422, "COMPANY_REQUIRED"),
        ("X-Three-Pl-Id: 1\r\nX-Three-Pl-Id: 1", 403, "FORBIDDEN"),
    ],
)
async def test_a_header_that_must_be_one_and_comes_twice(
    world: World, header: str, status: int, code: str
) -> None:
    request = world.caller.request("GET", "/api/articles", None)
    doubled = replace(request, head=request.head.removesuffix(b"\r\n") + f"{header}\r\n\r\n".encode())
    answer = await world.caller.ask(doubled)
    assert (answer.status, answer.body["code"]) == (status, code)


async def test_head_is_as_get_without_the_body(world: World) -> None:
    for path in ("/api/articles", "/api/v2/stock", "/api/articles/9", "/docs", "/openapi.json"):
        shown, told = await world.send("GET", path), await world.send("HEAD", path)
        assert (told.status, told.raw) == (shown.status, b"")
        assert told.headers["Content-Length"] == str(len(shown.raw))
        assert told.headers["Content-Type"] == shown.headers["Content-Type"]


async def test_an_address_that_only_begins_like_the_api_is_no_part_of_it(world: World) -> None:
    answer = await world.caller.ask(world.caller.request("GET", "/apix", None))
    assert (answer.status, answer.raw) == (404, b"Not Found.\n")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
async def test_a_body_that_says_falsely_that_it_is_compressed(world: World, encoding: str) -> None:
    request = world.caller.post("/api/articles", {"code": "A", "name": "Apple"})
    head = request.head.removesuffix(b"\r\n") + f"Content-Encoding: {encoding}\r\n\r\n".encode()
    answer = await world.caller.ask(replace(request, head=head))
    assert (answer.status, answer.body["code"]) == (415, "VALIDATION_FAILED")
    assert b"\r\nx-request-id: " in answer.head.lower()


async def test_a_method_that_is_not_possible_names_those_that_are(world: World) -> None:
    answer = await world.call("DELETE", "/api/articles/1", status=405)
    assert answer.body["code"] == "METHOD_NOT_ALLOWED"
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, PATCH, PUT"


async def test_a_mistake_of_ours_shows_no_internals(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("wmsd.warehouse.articles.store.one", broken)
    answer = await world.call("GET", "/api/articles/1", status=500)
    assert answer.body == {
        "message": "The server had an internal error. Look for the request id in its log.",
        "code": "SERVER_ERROR",
    }


async def test_a_refused_body_leaves_the_connection_usable(tmp_path: Any) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        for _ in range(5):
            await world.call("POST", "/api/articles", raw=b'{"name": "' + b"x" * 2_000_000 + b'"}', status=413)
            await world.call("GET", "/api/articles")
