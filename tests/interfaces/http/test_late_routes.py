"""Routes that are created by the first request to one of them."""

import asyncio
import logging
import threading

import pytest
from aiohttp.test_utils import TestClient, TestServer

from tests.support.world import World
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.late_routes import LateRoutes
from wmsd.interfaces.http.server import add_open, create_app


class Making:
    """A factory that creates one route when the test lets it, and first fails as often as requested."""

    def __init__(self, failures: int = 0) -> None:
        self.times = 0
        self.failures = failures
        self.may_begin = threading.Event()

    def __call__(self, app: web.Application) -> None:
        self.times += 1
        self.may_begin.wait()
        if self.times <= self.failures:
            raise RuntimeError("no memory")
        add_open(app, "GET", "/late/{name}", self._answer)

    async def _answer(self, request: web.Request) -> web.Response:
        return web.json_response(dict(request.match_info))


def served(world: World, making: Making) -> "TestClient[web.Request, web.Application]":
    app = create_app(world.installation, world.jobs, ())
    LateRoutes(app, making)
    return TestClient(TestServer(app))


async def test_those_who_ask_first_wait_until_they_are_made_once(world: World) -> None:
    making = Making()
    async with served(world, making) as client:
        asked = [asyncio.ensure_future(client.get(f"/late/{name}")) for name in ("a", "b")]
        await asyncio.sleep(0.05)
        making.may_begin.set()
        assert [await answer.json() for answer in await asyncio.gather(*asked)] == [{"name": "a"}, {"name": "b"}]
        assert (await (await client.get("/late/c")).json()) == {"name": "c"}
    assert making.times == 1


async def test_every_other_address_is_refused(world: World) -> None:
    making = Making()
    making.may_begin.set()
    async with served(world, making) as client:
        refused = [await client.get("/nothing"), await client.post("/late/a"), await client.get("/api/nothing")]
        assert [answer.status for answer in refused] == [404, 404, 404]
        assert (await refused[2].json())["code"] == "NOT_FOUND"
        head = await client.head("/late/a")
        assert (head.status, await head.read()) == (200, b"")


async def test_what_fails_is_told_and_made_again(world: World, caplog: pytest.LogCaptureFixture) -> None:
    making = Making(failures=1)
    making.may_begin.set()
    async with served(world, making) as client:
        with caplog.at_level(logging.ERROR):
            failed = await client.get("/late/a")
        assert failed.status == 500
        assert "X-Request-Id" in failed.headers
        assert "GET /late/a failed" in caplog.text
        assert (await client.get("/late/a")).status == 200
    assert making.times == 2
