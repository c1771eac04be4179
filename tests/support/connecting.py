"""A service that gives every request the same answer, and connections with which a test can do anything."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from aiohttp import web

from wmsd.base.client_addresses import networks
from wmsd.interfaces.http import connections, listener
from wmsd.interfaces.http.connections import Bounds

HELLO = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SOON = 10.0

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Opened = tuple[asyncio.StreamReader, asyncio.StreamWriter]


_opened: list[asyncio.StreamWriter] = []


async def close_all() -> None:
    """Close the connections that the test opened and the service has not closed."""
    while _opened:
        writer = _opened.pop()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def serving(
    bounds: Bounds,
    handler: Handler | None = None,
    proxies: list[str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    async def hello(request: web.Request) -> web.Response:
        connection = connections.of(request)
        assert connection is not None
        connection.begin()
        try:
            return web.Response(text=request.query.get("size", "") and "x" * int(request.query["size"]))
        finally:
            connection.end(int(request.headers.get("X-Company", 0)) or None)

    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", handler or hello)
    async with listener.open_listener(
        app, "127.0.0.1", 0, bounds=bounds, tls=tls, proxies=networks(proxies or []), grace_seconds=1
    ) as (_, port):
        yield port


async def opened(port: int, address: str = "127.0.0.1") -> Opened:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    _opened.append(writer)
    return reader, writer


async def is_closed(connection: Opened) -> bool:
    """Return True when the service has closed the connection. Data that it sends before does not matter.

    Raise TimeoutError if the connection is still open after SOON seconds.
    """
    with suppress(ConnectionError):
        async with asyncio.timeout(SOON):
            await connection[0].read()
    return True


async def answers(connection: Opened) -> bool:
    reader, writer = connection
    try:
        writer.write(HELLO)
        async with asyncio.timeout(SOON):
            return (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    except (OSError, EOFError):
        return False
