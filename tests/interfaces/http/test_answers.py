"""A reply that wmsd writes itself has the same bytes as the reply of aiohttp."""

import asyncio
import re
from collections.abc import AsyncIterator
from itertools import product

import pytest
from aiohttp.test_utils import TestServer

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.ready_answers import Answer

DATE = re.compile(rb"Date: [^\r]+\r\n")
ALWAYS = {"Server": "wmsd", "Content-Type": "application/json"}


def made(kind: type[web.Response], what: str) -> web.Response:
    match what:
        case "long":
            return kind(body=b"x" * 300_000, headers=ALWAYS)
        case "empty":
            return kind(body=b"", headers=ALWAYS)
        case "closing":
            closing = kind(body=b"{}", headers={**ALWAYS, "Connection": "close"})
            closing.force_close()
            return closing
        case "compressed":
            compressed = kind(body=b"x" * 3_000, headers=ALWAYS)
            compressed.enable_compression(web.ContentCoding.gzip)
            return compressed
        case "cookie":
            with_cookie = kind(body=b"{}", headers=ALWAYS)
            with_cookie.set_cookie("a", "b")
            return with_cookie
        case "204" | "304":
            return kind(status=int(what), headers={"Server": "wmsd", "ETag": '"1"'})
        case _:
            return kind(status=int(what), body=b'{"data":[]}', headers={**ALWAYS, "Location": "/1"})


WHAT = ("200", "201", "404", "503", "204", "304", "long", "empty", "closing", "compressed", "cookie")


@pytest.fixture
async def server() -> AsyncIterator[TestServer]:
    async def answer(request: web.Request) -> web.Response:
        kind = Answer if request.match_info["kind"] == "own" else web.Response
        return made(kind, request.match_info["what"])

    app = web.Application()
    app.router.add_route("*", "/{kind}/{what}", answer)
    server = TestServer(app)
    async with server:
        yield server


async def sent(server: TestServer, method: str, path: str, version: str, headers: str) -> bytes:
    """Send two requests and return all bytes of the replies; the second request ends the connection."""
    assert server.port is not None
    reader, writer = await asyncio.open_connection(server.host, server.port)
    head = f"{method} {path} HTTP/{version}\r\nHost: a\r\n"
    writer.write(f"{head}{headers}\r\n{head}Connection: close\r\n\r\n".encode())
    try:
        return DATE.sub(b"", await reader.read())
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("method", "version", "headers"),
    list(
        product(
            ("GET", "HEAD", "POST"), ("1.1", "1.0"), ("", "Connection: close\r\n", "Connection: keep-alive\r\n")
        )
    ),
)
async def test_it_has_the_bytes_of_aiohttps(server: TestServer, method: str, version: str, headers: str) -> None:
    for what in WHAT:
        own = await sent(server, method, f"/own/{what}", version, headers)
        theirs = await sent(server, method, f"/web/{what}", version, headers)
        assert sorted_head(own) == sorted_head(theirs.replace(b"/web/", b"/own/")), what


def sorted_head(answers: bytes) -> list[bytes]:
    """Return the lines in alphabetical order, because the order of headers has no meaning."""
    return sorted(answers.split(b"\r\n"))


async def test_its_moment_is_told(server: TestServer) -> None:
    assert server.port is not None
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /own/200 HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
    assert re.search(rb"\r\nDate: \w{3}, \d\d \w{3} \d{4} ", await reader.readuntil(b"\r\n\r\n"))
    writer.close()


async def test_a_header_with_a_line_break_is_never_sent(server: TestServer) -> None:
    async def answer(_: web.Request) -> web.Response:
        return Answer(body=b"{}", headers={"Location": "/\r\nSet-Cookie: a=b"})

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app) as injected:
        assert injected.port is not None
        reader, writer = await asyncio.open_connection(injected.host, injected.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"Set-Cookie" not in await reader.read()
        writer.close()
