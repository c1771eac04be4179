"""A client that closes its sending side after its request gets the reply. A client that has left leaves nothing
behind.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from tests.support.connecting import HELLO, SOON, answers, close_all, is_closed, opened, serving
from tests.support.world import World
from wmsd.base.problems import Problem
from wmsd.interfaces.http import connections, requests
from wmsd.interfaces.http.connections import Bounds

POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"


@pytest.fixture(autouse=True)
async def closed(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.05)
    yield
    await close_all()


class Work:
    """A handler that reads the body, and then works until the gate is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun = self.ended = 0

    async def answer(self, request: web.Request) -> web.Response:
        connection = connections.of(request)
        assert connection is not None
        connection.begin()
        self.begun += 1
        try:
            await requests.body(request, 1000)
            await self.gate.wait()
        except Problem as problem:
            return web.Response(status=problem.status)
        finally:
            self.ended += 1
            connection.end()
        return web.Response()

    async def until_begun(self, number: int) -> None:
        async with asyncio.timeout(SOON):
            while self.begun < number:  # noqa: ASYNC110  (there is no event to wait for)
                await asyncio.sleep(0.01)


async def test_it_gets_its_answer_and_then_the_connection_ends(world: World) -> None:
    small = world.caller.post("/api/articles", {"code": "A", "name": "Apple"}, "a")
    large = world.caller.post("/api/articles", {"code": "B", "name": "Bread"}, "b", padding=b" " * 300_000)
    refused = world.caller.post("/api/articles", {"code": "A", "name": "Again"})
    read = world.caller.request("GET", "/api/articles", None)
    for request, status in ((small, 201), (large, 201), (refused, 422), (read, 200)):
        for pieces in ([request.whole], [request.head, request.body[:9], request.body[9:]]):
            async with world.caller.connections(1) as (connection,):
                for each in pieces:
                    await connection.send(each)
                connection.finish()
                answer = await connection.answer()
                assert answer.status == status
                assert b"\r\nConnection: close\r\n" in answer.head
                assert await connection.rest() == b""
    assert [each["code"] for each in (await world.call("GET", "/api/articles")).body["data"]] == ["A", "B"]


async def test_however_long_the_work_takes() -> None:
    work = Work()
    async with serving(Bounds(), work.answer) as port:
        reader, writer = await opened(port)
        writer.write(HELLO)
        await work.until_begun(1)
        writer.write_eof()
        await asyncio.sleep(0.3)
        work.gate.set()
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        assert await is_closed((reader, writer))


@pytest.mark.parametrize("sent", [b"", HELLO[:9], POST, POST + b"half"])
async def test_who_leaves_before_its_request_is_whole_is_forgotten(sent: bytes) -> None:
    work = Work()
    async with serving(Bounds(connections=1), work.answer) as port:
        reader, writer = await opened(port)
        writer.write(sent)
        if sent.startswith(POST):
            await work.until_begun(1)
        writer.write_eof()
        assert await is_closed((reader, writer))
        work.gate.set()
        assert await answers(await opened(port))
    assert work.begun == work.ended


async def test_a_kept_connection_ends_with_its_client() -> None:
    async with serving(Bounds()) as port:
        reader, writer = await opened(port)
        assert await answers((reader, writer))
        writer.write_eof()
        async with asyncio.timeout(0.5):
            assert await reader.read() == b""


async def test_who_has_left_counts_as_long_as_its_work_lasts() -> None:
    work = Work()
    async with serving(Bounds(connections_of_an_address=2), work.answer) as port:
        for number in (1, 2):
            _, writer = await opened(port)
            writer.write(HELLO)
            await work.until_begun(number)
            writer.close()
        assert await is_closed(await opened(port))
        work.gate.set()
        async with asyncio.timeout(SOON):
            while not await answers(await opened(port)):
                pass
    assert work.begun == work.ended
