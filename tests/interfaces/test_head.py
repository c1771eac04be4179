"""HEAD at every served address: the same as GET, without a body (RFC 9110, section 9.3.2)."""

import re

from aiohttp import web

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.test_attacks import HANDED_OVER, Scene, scene
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import Answer, World
from wmsd.interfaces.service import FOR_BROWSERS

__all__ = ["scene"]
PLACE = re.compile(r"\{[^{}]*\}")
COMPARED = ("Content-Type", "Location", "Allow", "ETag", "Cache-Control", "Content-Security-Policy", "Vary")
UNLIKE = {"/api/health", "/api", "/metrics"}
"""The addresses whose bodies depend on the time, so that two replies may differ in length."""


async def routes(app: web.Application) -> list[web.AbstractRoute]:
    """Return the routes for programs and the routes for browsers, which are created by the first request."""
    return [*app.router.routes(), *(await app[FOR_BROWSERS].prepare()).routes()]


async def table(app: web.Application) -> list[str]:
    """Return the paths of all GET routes, with 1 for each path parameter."""
    found = {each.resource.canonical for each in await routes(app) if each.method == "GET" and each.resource}
    return sorted(PLACE.sub("1", each) for each in found)


def like(shown: Answer, told: Answer) -> bool:
    return (told.status, told.raw) == (shown.status, b"") and all(
        told.headers.get(name) == shown.headers.get(name) for name in COMPARED
    )


async def test_each_route_for_get_is_one_for_head(world: World) -> None:
    methods: dict[str, set[str]] = {}
    for each in await routes(world.app):
        assert each.resource is not None
        methods.setdefault(each.resource.canonical, set()).add(each.method)
    assert len(methods) > 100
    assert [path for path, of_path in methods.items() if ("GET" in of_path) != ("HEAD" in of_path)] == []


async def test_every_address_answers_head_as_get(world: World) -> None:
    wrong = []
    paths = await table(world.app)
    assert {"/api/health", "/today", "/docs", "/sign-in", "/openapi.json"} <= set(paths)
    for path in paths:
        shown, told = await world.send("GET", path), await world.send("HEAD", path)
        length = told.headers.get("Content-Length")
        if not like(shown, told) or (path not in UNLIKE and length != shown.headers.get("Content-Length")):
            unlike = {name: (shown.headers.get(name), told.headers.get(name)) for name in COMPARED}
            wrong.append((path, told.raw, {name: two for name, two in unlike.items() if two[0] != two[1]}))
    assert wrong == []


async def test_health_answers_head_to_strangers_too(world: World) -> None:
    told = await world.send("HEAD", "/api/health", token="")
    assert (told.status, told.raw) == (200, b"")


async def test_every_page_of_somebody_who_is_signed_in_answers_head_as_get(scene: Scene) -> None:
    owner = scene.people["owner"]
    before = await scene.rows()
    wrong = []
    for each in scene.addresses("GET"):
        if each.route in HANDED_OVER:
            continue
        shown, told = await owner.get(each.path), await head(owner, each.path)
        if (told.status, told.raw) != (shown.status, b"") or told.headers.get("Location", "") != shown.goes_to:
            wrong.append((each.path, shown.status, told.status))
    assert wrong == []
    assert await scene.rows() == before


async def test_the_head_of_the_event_stream_ends_and_takes_no_place(world: World) -> None:
    visitor = await signed_in(world)
    for _ in range(20):
        told = await head(visitor, "/live")
        assert (told.status, told.raw) == (200, b"")
        assert told.headers["Content-Type"].startswith("text/event-stream")
    assert world.jobs.changes.streams == 0


async def head(visitor: Visitor, path: str) -> Answer:
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    return await visitor.world.send("HEAD", path, token="", company="", headers={"Cookie": cookie})
