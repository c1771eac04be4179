"""Pages of other origins can call the API if the installation allows it: with a token, and never with cookies."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.world import World, open_world
from wmsd.settings.all_settings import Settings

SHOP = "https://shop.example.com"
ASKS = {"Origin": SHOP, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


def told(answer: object) -> dict[str, str]:
    headers: dict[str, str] = dict(answer.headers)  # type: ignore[attr-defined]  # both types of Answer have it
    return {name: value for name, value in headers.items() if name.startswith("Access-Control-")}


@pytest.fixture
async def allowing(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(
        tmp_path / "data", {"server": {"allow_origins": [SHOP, "http://10.0.0.7:3000"]}}
    ) as world:
        yield world


async def test_nothing_is_said_unless_it_is_allowed(world: World) -> None:
    for method, path in (("GET", "/api/articles"), ("OPTIONS", "/api/articles"), ("POST", "/api/graphql")):
        assert told(await world.send(method, path, headers=ASKS)) == {}


@pytest.mark.parametrize("path", ["/api/sales-orders", "/api/v2/sales-orders", "/api/graphql", "/api/auth/token"])
async def test_a_page_of_an_allowed_origin_may_ask_first(allowing: World, path: str) -> None:
    answer = await allowing.send("OPTIONS", path, token="", company="", headers=ASKS)
    assert (answer.status, answer.raw) == (204, b"")
    found = told(answer)
    assert found["Access-Control-Allow-Origin"] == SHOP
    assert "POST" in found["Access-Control-Allow-Methods"].split(", ")
    allowed = {name.lower() for name in found["Access-Control-Allow-Headers"].split(", ")}
    assert {"authorization", "content-type", "x-company-id", "idempotency-key", "if-match"} <= allowed
    assert "*" in allowed, "browsers add headers of libraries, which are ignored here"
    assert found["Access-Control-Max-Age"] == "600"
    assert "Origin" in answer.headers["Vary"].split(", ")


@pytest.mark.parametrize(("origin", "last"), [(SHOP, 204), ("https://evil.example.com", 429)])
async def test_the_requests_of_a_page_are_counted_and_what_it_asks_before_each_is_not(
    tmp_path: Path, origin: str, last: int
) -> None:
    settings = {"server": {"allow_origins": [SHOP]}, "limits": {"open_per_minute": 3}}
    async with open_world(tmp_path / "data", settings) as world:
        asks = {**ASKS, "Origin": origin}
        answers = [await world.send("OPTIONS", "/api/articles", token="", headers=asks) for _ in range(5)]
        assert answers[-1].status == last


async def test_a_page_reads_answers_refusals_and_their_headers(allowing: World) -> None:
    for path, token, status in (
        ("/api/articles", None, 200),
        ("/api/articles", "wrong", 401),
        ("/api/x", None, 404),
    ):
        answer = await allowing.send("GET", path, token=token, headers={"Origin": SHOP})
        assert answer.status == status
        found = told(answer)
        assert found["Access-Control-Allow-Origin"] == SHOP
        exposed = found["Access-Control-Expose-Headers"].split(", ")
        assert {"ETag", "Link", "X-Request-Id", "X-RateLimit-Remaining", "X-Query-Cost"} <= set(exposed)


@pytest.mark.parametrize(
    "origin", ["https://evil.example.com", f"{SHOP}.evil.example.com", "null", "", SHOP.upper(), f"{SHOP}:444"]
)
async def test_other_origins_are_told_nothing(allowing: World, origin: str) -> None:
    for method in ("GET", "OPTIONS"):
        answer = await allowing.send(method, "/api/articles", headers={**ASKS, "Origin": origin})
        assert told(answer) == {}
        assert "Origin" in answer.headers["Vary"].split(", "), "a cache must not give this to an allowed origin"


async def test_every_origin_can_be_allowed_and_credentials_never_are(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"server": {"allow_origins": ["*"]}}) as world:
        for method in ("GET", "OPTIONS"):
            found = told(await world.send(method, "/api/articles", headers=ASKS))
            assert found["Access-Control-Allow-Origin"] == "*"
            assert "Access-Control-Allow-Credentials" not in found


async def test_pages_for_people_are_not_shared(allowing: World) -> None:
    for path in ("/docs", "/first-admin"):
        assert told(await allowing.send("GET", path, headers={"Origin": SHOP})) == {}


async def test_options_tells_what_can_be_done_without_any_page(world: World) -> None:
    answer = await world.send("OPTIONS", "/api/articles/1", token="", company="")
    assert (answer.status, answer.raw) == (204, b"")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, PATCH, PUT"
    assert (await world.send("OPTIONS", "/api/nothing")).status == 404


@pytest.mark.parametrize(
    "origin",
    [
        "shop.example.com",
        "https://shop.example.com/",
        "https://",
        "ftp://a.example",
        "https://a b",
        "https://*.a.ro",
    ],
)
def test_what_is_no_origin_is_refused_when_it_is_set(origin: str) -> None:
    with pytest.raises(ValueError, match="which is not an origin such as"):
        Settings.model_validate({"server": {"allow_origins": [origin]}})
