"""The service on its address: connections are counted, and files are kept back for what is more important."""

import asyncio
import logging
import resource
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from wmsd.base.addresses import Network
from wmsd.base.complaints import Complaints
from wmsd.interfaces.http.connections import HEAD_SECONDS, Bounds, Connection, Connections
from wmsd.interfaces.http.web import web

NewConnection = Callable[[], Connection]
LOG = logging.getLogger("wmsd.serve")
GRACE_SECONDS: Final = 5.0
KEEP_ALIVE_SECONDS: Final = 75.0
LINGERING_SECONDS: Final = 2.0
"""For the rest of a body that nobody wants, so that its client reads the answer."""
BACKLOG: Final = 512
AGAIN_SECONDS: Final = 0.1
FILES_BESIDE: Final = 64
"""What the program has open beside connections and companies' files."""
SHARE_OF_CONNECTIONS: Final = 0.4
SHARE_OF_COMPANIES: Final = 0.4
"""Of the files that may be open. The others are for what is sent to receivers."""


def raise_file_limit() -> int:
    """The soft limit of open files is set to the hard one; answers what it is then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError) as error:
            LOG.warning("the limit of open files stays at %d: %s", soft, error)
            return soft
    return hard


def bounded_by_files(bounds: Bounds, files: int) -> Bounds:
    """No more connections than their share of the open files."""
    share = max(16, int((files - FILES_BESIDE) * SHARE_OF_CONNECTIONS))
    most = min(bounds.connections, share)
    if most < bounds.connections:
        LOG.info("%d connections at a time, since the system allows %d open files", most, files)
    return replace(bounds, connections=most, connections_of_an_address=min(bounds.connections_of_an_address, most))


def for_companies(files: int) -> int:
    """The share of the open files that companies' files have."""
    return int((files - FILES_BESIDE) * SHARE_OF_COMPANIES)


@asynccontextmanager
async def listening(
    app: web.Application,
    host: str,
    port: int,
    *,
    bounds: Bounds,
    tls: ssl.SSLContext | None = None,
    proxies: Sequence[Network] = (),
    grace_seconds: float = GRACE_SECONDS,
) -> AsyncIterator[tuple[str, int]]:
    """Serves the application; answers host and port. Raises OSError or UnicodeError when that cannot be."""
    runner = web.AppRunner(
        app,
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=grace_seconds,
        keepalive_timeout=KEEP_ALIVE_SECONDS,
        lingering_time=LINGERING_SECONDS,
    )
    await runner.setup()
    connections = Connections(bounds, proxies)
    async with AsyncExitStack() as stack:
        stack.callback(connections.close)
        stack.push_async_callback(runner.cleanup)
        stack.callback(connections.stop)
        assert runner.server is not None
        protocol = partial(connections.protocol, runner.server)
        if tls is None:
            yield await stack.enter_async_context(_plain(protocol, host, port))
        else:
            yield await stack.enter_async_context(_secured(protocol, host, port, tls))


@asynccontextmanager
async def _plain(protocol: NewConnection, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
    server = await asyncio.get_running_loop().create_server(
        protocol, host, port, backlog=BACKLOG, reuse_address=True
    )
    try:
        yield server.sockets[0].getsockname()[:2]
    finally:
        server.close()


@asynccontextmanager
async def _secured(
    protocol: NewConnection, host: str, port: int, tls: ssl.SSLContext
) -> AsyncIterator[tuple[str, int]]:
    """Accepts by itself: asyncio tells of a connection only when the handshake is over, and there may be many."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listeners = [_listener(family, address) for family, _, _, _, address in found]
    accepting = [asyncio.ensure_future(_accept(protocol, listener, tls)) for listener in listeners]
    try:
        yield listeners[0].getsockname()[:2]
    finally:
        for each in accepting:
            each.cancel()
        await asyncio.gather(*accepting, return_exceptions=True)
        for listener in listeners:
            listener.close()


def _listener(family: int, address: Any) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


async def _accept(protocol: NewConnection, listener: socket.socket, tls: ssl.SSLContext) -> None:
    loop = asyncio.get_running_loop()
    told = Complaints(LOG)
    while True:
        try:
            opened, peer = await loop.sock_accept(listener)
        except OSError as error:
            told.failed("no connection can be accepted", error)
            await asyncio.sleep(AGAIN_SECONDS)
            continue
        told.over("no connection can be accepted")
        connection = protocol()
        connection.handshake = asyncio.ensure_future(_shake_hands(connection, opened, tls))
        connection.count(peer)


async def _shake_hands(connection: Connection, opened: socket.socket, tls: ssl.SSLContext) -> None:
    loop = asyncio.get_running_loop()
    try:
        await loop.connect_accepted_socket(lambda: connection, opened, ssl=tls, ssl_handshake_timeout=HEAD_SECONDS)
    except (OSError, asyncio.CancelledError):  # the client went, took too long, or speaks no TLS
        connection.gave_up()
