"""`Expect: 100-continue`: the server requests a body only if it needs the body, and never for a refused
request.
"""

import asyncio

import pytest

from tests.support.raw_http import Request
from tests.support.world import World
from wmsd.interfaces.http import requests

EXPECT = b"Expect: 100-continue\r\n\r\n"
ARTICLE = {"code": "A", "name": "Apple"}


def expecting(request: Request) -> bytes:
    return request.head.removesuffix(b"\r\n") + EXPECT


@pytest.mark.parametrize(
    ("path", "changed", "status"),
    [
        ("/api/articles", (b"Bearer ", b"Bearer x"), 401),
        ("/api/nowhere", (b"", b""), 404),
        ("/nowhere", (b"", b""), 404),
        ("/api/articles/A/x/y", (b"", b""), 404),
        ("/api/stock", (b"", b""), 405),
        ("/api/articles", (b"Content-Length: ", b"Content-Length: 9999999"), 413),
        ("/api/articles", (b"application/json", b"text/csv"), 415),
    ],
)
async def test_a_sure_refusal_does_not_ask_for_the_body(
    world: World, path: str, changed: tuple[bytes, bytes], status: int
) -> None:
    head = expecting(world.caller.post(path, ARTICLE)).replace(*changed)
    async with world.caller.connections(1) as (connection,):
        await connection.send(head)
        refusal = await connection.answer()
    assert refusal.status == status
    assert b"\r\nConnection: close\r\n" in refusal.head


async def test_a_body_that_is_wanted_is_asked_for_once_and_the_connection_goes_on(world: World) -> None:
    request = world.caller.post("/api/articles", ARTICLE, padding=b" " * 20_000)
    async with world.caller.connections(1) as (connection,):
        await connection.send(expecting(request))
        assert (await connection.head()).startswith(b"HTTP/1.1 100 ")
        for place in range(0, len(request.body), 5_000):
            await connection.send(request.body[place : place + 5_000])
            await asyncio.sleep(0)
        created = await connection.answer()
        assert created.status == 201
        assert b"\r\nConnection: close\r\n" not in created.head
        again = await connection.ask(world.caller.request("GET", "/api/articles/1", None))
        assert again.body["name"] == "Apple"


async def test_who_sends_the_body_with_the_head_is_not_asked_for_it(world: World) -> None:
    request = world.caller.post("/api/articles", ARTICLE)
    async with world.caller.connections(1) as (connection,):
        whole = Request(expecting(request), request.body)
        assert [(await connection.ask(whole)).status for _ in range(2)] == [201, 422]


async def test_who_never_sends_it_has_the_time_of_every_body(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.2)
    async with world.caller.connections(1) as (connection,):
        await connection.send(expecting(world.caller.post("/api/articles", ARTICLE)))
        assert (await connection.head()).startswith(b"HTTP/1.1 100 ")
        assert (await connection.answer()).status == 408
