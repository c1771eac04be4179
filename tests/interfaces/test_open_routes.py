"""Every address that replies without credentials limits the work that a request can cause.

The test sends a request without credentials to each served route. Each route that replies must be named here with
its limit, and the test checks the limit. All these requests are counted by client address.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from benchmarks.open_pages import PAGES
from tests.support.page_addresses import addresses
from tests.support.world import UNLIMITED, Answer, World, open_world
from wmsd.dispatch import prepared_answers
from wmsd.dispatch.limits.costs import Payers
from wmsd.dispatch.prepared_answers import Kept, Make
from wmsd.interfaces.pages.kit.browser import LARGEST_FORM
from wmsd.interfaces.service import FOR_BROWSERS

Route = tuple[str, str]
"""A method, and a path with the names of its parameters."""


class Bound(Enum):
    ONCE = "the answer is made once, whatever is asked, and kept"
    TURNS = "answers are made in turns, and few may wait for one"
    SMALL = "the work does not grow with what is sent"
    SIGN_IN = "so, and what a password or a code costs is counted by the limit of signing in"


ONCE, TURNS, SMALL, SIGN_IN = Bound
OPEN: Final[Mapping[Route, tuple[Bound, ...]]] = {
    ("GET", "/api"): (ONCE,),
    ("GET", "/api/health"): (SMALL,),
    ("GET", "/openapi.json"): (ONCE,),
    ("POST", "/api/auth/token"): (SIGN_IN,),
    ("GET", "/api/v2/meta"): (SMALL,),
    ("GET", "/api/v2/openapi.json"): (ONCE,),
    ("GET", "/api/graphql/schema"): (ONCE,),
    ("GET", "/docs/api/graphql"): (ONCE,),
    ("GET", "/docs/api/graphql/{type}"): (ONCE,),
    ("GET", "/docs/api/graphql-names.json"): (ONCE,),
    ("GET", "/docs/api"): (ONCE, TURNS),
    ("GET", "/docs/api/errors"): (ONCE,),
    ("GET", "/docs/api/webhook-events"): (ONCE,),
    ("GET", "/docs/api/access"): (ONCE,),
    ("GET", "/docs/api/{group}"): (ONCE,),
    ("GET", "/docs/api/{group}/{operation}"): (ONCE,),
    ("GET", "/"): (SMALL,),
    ("GET", "/docs"): (ONCE,),
    ("GET", "/docs/search"): (TURNS,),
    ("GET", "/docs/{name}"): (ONCE,),
    ("GET", "/pages/{name}"): (SMALL,),
    ("GET", "/sign-in"): (SMALL,),
    ("POST", "/sign-in"): (SIGN_IN,),
    ("POST", "/second-step"): (SIGN_IN,),
    ("POST", "/sign-out"): (SMALL,),
    ("GET", "/first-admin"): (SMALL,),
    ("POST", "/first-admin"): (SMALL,),
    ("GET", "/demo"): (SMALL,),
    ("POST", "/demo"): (SIGN_IN,),
    ("GET", "/welcome"): (SMALL,),
    ("POST", "/welcome"): (SIGN_IN,),
    ("GET", "/trust"): (SMALL,),
    ("GET", "/trust/wmsd-authority.crt"): (SMALL,),
    ("GET", "/sign-in/{provider}"): (SMALL,),
    ("GET", "/sign-in/{provider}/back"): (SMALL,),
    ("GET", "/live"): (SMALL,),
}
REFUSED: Final = (("GET", "/nothing"), ("GET", "/api/nothing"), ("PUT", "/docs"), ("PUT", "/api/health"))
"""Unknown addresses, and methods that an address does not have."""
FRESH: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "/docs/api": ("/docs/api?q=fresh", {}),
    "/docs/search": ("/docs/search?q=fresh", {}),
}
"""Addresses that nobody has requested yet."""
LONG: Final = "&".join(
    f"{name}=/{'x' * 700}" for name in ("next", "code", "state", "error", "iss", "lost", "done", "page", "other")
)
FORMS: Final[Mapping[str, Mapping[str, str]]] = {
    "/sign-in": {"email": "nobody@example.com", "password": "wrong"},
    "/second-step": {"pending": "x", "code": "123456"},
    "/demo": {"code": "x"},
    "/welcome": {"code": "x", "password": "correct horse battery"},
    "/api/auth/token": {"email": "nobody@example.com", "password": "wrong"},
}
OWN: Final = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
FEW: Final = 3


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[World]:
    """Open an installation that allows few requests per address."""
    limits = dict.fromkeys(("open_per_minute", "auth_per_minute", "refused_per_minute"), FEW)
    async with open_world(tmp_path / "data", {"limits": limits}) as world:
        yield world


async def ask(
    world: World, method: str, address: str, headers: Mapping[str, str] = {}, *, raw: bytes = b""
) -> Answer:
    sent = {**(OWN if method == "POST" else {}), **headers}
    async with world.session.request(
        method, world.base_url + address, data=BytesIO(raw) if raw else None, headers=sent, allow_redirects=False
    ) as answer:
        return Answer(answer.status, answer.headers, await answer.read())


async def served(world: World) -> Mapping[Route, str]:
    """Return every route with an address. Path parameters are 1, unless PAGES or `addresses` have a value."""
    await world.app[FOR_BROWSERS].prepare()
    there = {"webhook with a log": "1", "delivery": "1"}
    found = {(each.method, each.route): each.path for each in addresses(world.app, world.company, there)}
    routes = [*world.app.router.routes(), *world.app[FOR_BROWSERS].routes()]
    declared = {(each.method, each.resource.canonical) for each in routes if each.resource}
    every = {
        route: PAGES.get(route[1]) or found.get(route) or re.sub(r"{\w+}", "1", route[1]) for route in declared
    }
    return {route: address for route, address in every.items() if route[0] not in ("*", "HEAD")}


def is_open(path: str, answer: Answer) -> bool:
    """Return True if the reply is neither a refusal for a program nor a redirect to the sign-in page."""
    if path.startswith(("/api/", "/openapi.json")):
        return answer.status != 401
    return not answer.headers.get("Location", "").startswith("/sign-in?next=")


def having(bound: Bound) -> list[Route]:
    return [route for route, bounds in OPEN.items() if bound in bounds]


async def test_every_open_route_is_named_with_its_bound(world: World) -> None:
    routes = await served(world)
    found = {each for each, address in routes.items() if is_open(each[1], await ask(world, each[0], address))}
    assert found == set(OPEN)
    assert {path for method, path in found if method == "GET"} == set(PAGES), "the benchmark measures each"
    assert len(routes) > 3 * len(found), "most routes need credentials"


@pytest.mark.parametrize(("method", "path"), [*OPEN, *REFUSED])
async def test_each_is_counted_by_address(guarded: World, method: str, path: str) -> None:
    address = PAGES.get(path, path)
    statuses = [(await ask(guarded, method, address)).status for _ in range(FEW + 1)]
    assert 429 not in statuses[:FEW]
    assert statuses[FEW] == 429
    guarded.clock.advance(61)
    assert (await ask(guarded, method, address)).status != 429


async def test_what_is_made_once_is_not_made_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(make: Make) -> Kept:
        made.append(1)
        return kept(make)

    kept = prepared_answers.prepare_answer
    monkeypatch.setattr(prepared_answers, "prepare_answer", counted)
    for method, path in having(ONCE):
        before = len(made)
        first = await ask(world, method, PAGES[path])
        assert (first.status, len(made)) == (200, before + 1), path
        again = await ask(
            world, method, f"{PAGES[path]}?{LONG.replace('q=', 'r=')}", {"Accept-Language": "en;q=0.9"}
        )
        known = await ask(world, method, PAGES[path], {"If-None-Match": first.headers["ETag"]})
        # this is part of the API, which refuses the unknown parameter
        assert again.raw == first.raw or again.status == 422, path
        assert known.status == 304, path
        assert len(made) == before + 1, path


@pytest.mark.parametrize("path", [path for _, path in having(TURNS)])
async def test_what_is_made_in_turns_waits_for_its_turn(world: World, path: str) -> None:
    address, headers = FRESH[path]
    await ask(world, "GET", PAGES[path])
    await ask(world, "GET", "/docs/search?q=imported")
    async with world.installation.dispatcher.work.turn("search", Payers()):
        waiting = asyncio.create_task(ask(world, "GET", address, headers))
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 0.3)
        assert not waiting.done()
    assert (await waiting).status == 200
    async with world.installation.dispatcher.work.turn("search", Payers()):
        assert (await ask(world, "GET", address, headers)).status == 200, "it is kept"


@pytest.mark.parametrize("path", [path for method, path in having(SMALL) if method == "GET"])
async def test_an_answer_does_not_grow_with_what_is_sent(world: World, path: str) -> None:
    bare = await ask(world, "GET", PAGES[path])
    sent = await ask(world, "GET", f"{PAGES[path]}?{LONG}")
    assert sent.status < 500
    assert len(sent.raw) <= len(bare.raw) + 2_000


@pytest.mark.parametrize("path", [path for method, path in OPEN if method == "POST"])
async def test_a_form_that_is_too_long_is_not_read(world: World, path: str) -> None:
    is_json = path.startswith("/api/")
    largest, kind = (1024 * 1024, "application/json") if is_json else (LARGEST_FORM, OWN["Content-Type"])
    refused = await ask(world, "POST", path, {"Content-Type": kind}, raw=b"x" * (largest + 1))
    assert refused.status == (404 if path == "/first-admin" else 413), "there is an admin"
    assert len(refused.raw) < 2_000


@pytest.mark.parametrize("path", [path for _, path in having(SIGN_IN)])
async def test_what_may_cost_a_hash_is_counted_with_sign_ins(tmp_path: Path, path: str) -> None:
    limits: dict[str, Any] = {"limits": {**UNLIMITED["limits"], "auth_per_minute": FEW}}
    async with open_world(tmp_path / "data", limits) as world:
        raw, kind = encoded(path)
        statuses = [
            (await ask(world, "POST", path, {"Content-Type": kind}, raw=raw)).status for _ in range(FEW + 1)
        ]
        assert 429 not in statuses[:FEW]
        assert statuses[FEW] == 429


def encoded(path: str) -> tuple[bytes, str]:
    if path.startswith("/api/"):
        return json.dumps(FORMS[path]).encode(), "application/json"
    return urlencode(FORMS[path]).encode(), OWN["Content-Type"]
