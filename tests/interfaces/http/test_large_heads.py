"""The heads of requests are limited: the size of a header, the number of headers, and the total, for every
client.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.support.world import World
from wmsd.interfaces.http.request_head import LARGEST_HEAD, LARGEST_HEADER, MOST_HEADERS

OTHERS = "; ".join(f"of_another_program_{number}={'x' * 900}" for number in range(9))
"""The cookies of a program at another port of the host."""
TOO_MANY = "; ".join(f"of_another_program_{number}={'x' * 900}" for number in range(18))
HTML = "text/html,application/xhtml+xml"


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(
        self, method: str, path: str, *headers: str, body: bytes = b""
    ) -> tuple[int, dict[str, str], str]:
        lines = (f"{method} {path} HTTP/1.1", "Host: x", *headers, f"Content-Length: {len(body)}", "", "")
        self._writer.write("\r\n".join(lines).encode() + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        status, *found = head.splitlines()
        told = dict(each.split(": ", 1) for each in found if each)
        text = await self._reader.readexactly(int(told["Content-Length"]))
        return int(status.split()[1]), told, text.decode()


@asynccontextmanager
async def connected(world: World) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(world.base_url.rpartition(":")[2]))
    try:
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


async def test_the_cookies_of_other_programs_of_the_host_are_passed_over(world: World) -> None:
    assert len(OTHERS) > 8190
    async with connected(world) as client:
        assert (await client.ask("GET", "/sign-in", f"Accept: {HTML}", f"Cookie: {OTHERS}"))[0] == 200
        assert (await client.ask("GET", "/api/health", f"Cookie: {OTHERS}"))[0] == 200


@pytest.mark.parametrize(
    ("language", "heading", "says"),
    [
        ("en", "Your browser sends too many cookies", "Delete the cookies of this host"),
        ("ro,en;q=0.5", "Browserul trimite prea multe cookie-uri", "Ștergeți cookie-urile acestei gazde"),
    ],
)
async def test_a_browser_with_too_many_is_told_what_to_do(
    world: World, language: str, heading: str, says: str
) -> None:
    own = (f"Accept: {HTML}", f"Accept-Language: {language}", f"Cookie: {TOO_MANY}")
    async with connected(world) as client:
        status, headers, text = await client.ask("GET", "/today", *own)
    assert (status, headers["Content-Type"]) == (431, "text/html; charset=utf-8")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert (f"<h1>{heading}</h1>" in text, says in text, headers["X-Request-Id"] in text) == (True, True, True)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/articles", (f"Cookie: {TOO_MANY}",)),
        ("/api/articles", (f"Accept: {HTML}", f"Cookie: {TOO_MANY}")),
        ("/today", (f"Cookie: {TOO_MANY}", f"Accept: {HTML}")),
        ("/today", tuple(f"X-{number}: x" for number in range(MOST_HEADERS))),
    ],
    ids=["the API", "a browser at the API", "a program", "many headers"],
)
async def test_programs_are_told_in_json(world: World, path: str, headers: tuple[str, ...]) -> None:
    async with connected(world) as client:
        status, told, text = await client.ask("GET", path, *headers)
    assert (status, told["Content-Type"]) == (431, "application/json")
    assert json.loads(text)["message"] == (
        f"The head of this request is too large. A header can have {LARGEST_HEADER} bytes, and a request "
        f"{MOST_HEADERS} headers."
    )


async def test_a_whole_head_is_bounded_also_after_another_request(world: World) -> None:
    """Each header alone is allowed. The body of a request does not count as part of its head."""
    large = [f"X-{number}: {'x' * 15_000}" for number in range(LARGEST_HEAD // 15_000)]
    async with connected(world) as client:
        assert (await client.ask("POST", "/api/articles", *large, body=b"x" * 400_000))[0] == 401
    async with connected(world) as client:
        assert (await client.ask("GET", "/api/health", *large))[0] == 200
        assert (await client.ask("GET", "/api/health", *large, f"X-More: {'x' * 10_000}"))[0] == 431
