"""The listener at the service's address. It limits connections, so that wmsd can still open files."""

import asyncio
import logging
import resource
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from wmsd.base.client_addresses import Network
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.host.listen_sockets import listeners
from wmsd.interfaces.http.accept_queue import Opening
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.connections import Bounds, Connection, Connections
from wmsd.interfaces.http.request_head import LARGEST_HEADER, MOST_HEADERS

NewConnection = Callable[[], Connection]
LOG = logging.getLogger("wmsd.serve")
MakeHandler = Callable[..., asyncio.Protocol]
Answering = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
ANSWERING_ALL: Final = web.AppKey[Callable[[Answering], Answering]]("answering_all")
"""The function that wraps aiohttp's handler. The wrapped handler gets every request."""
REQUEST_HANDLER: Final = web.AppKey[MakeHandler]("request_handler")
"""The function that creates aiohttp's handler of a connection, from the server and the handler's options."""
GRACE_SECONDS: Final = 5.0
KEEP_ALIVE_SECONDS: Final = 75.0
LINGERING_SECONDS: Final = 2.0
"""After refusing a request, wmsd reads the rest of its body for at most this number of seconds. Without this, the
client may not get the answer.
"""
AGAIN_SECONDS: Final = 0.1
ACCEPTED_AT_ONCE: Final = 64
NOT_ACCEPTED: Final = "connections cannot be accepted"
FILES_BESIDE: Final = 64
"""The number of open files that wmsd needs in addition to connections and the files of companies."""
SHARE_OF_CONNECTIONS: Final = 0.4
SHARE_OF_COMPANIES: Final = 0.4
"""The share of open files for the files of companies. This share and SHARE_OF_CONNECTIONS are parts of the open
file limit minus FILES_BESIDE. The remaining files are for requests to webhook receivers.
"""


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard limit. Return the limit in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError) as error:
            LOG.warning("the limit of open files stays at %d: %s", soft, error)
            return soft
    return hard


def bounded_by_files(bounds: Bounds, files: int) -> Bounds:
    """Return `bounds`, but with no more connections than the system allows. `files` is the system's open file
    limit.
    """
    share = max(16, int((files - FILES_BESIDE) * SHARE_OF_CONNECTIONS))
    most = min(bounds.connections, share)
    if most < bounds.connections:
        LOG.info(
            "wmsd accepts %d connections at the same time, because the system allows %d open files", most, files
        )
    return replace(bounds, connections=most, connections_of_an_address=min(bounds.connections_of_an_address, most))


def for_companies(files: int) -> int:
    """Return how many files of companies may be open, if the system allows `files` open files."""
    return int((files - FILES_BESIDE) * SHARE_OF_COMPANIES)


@asynccontextmanager
async def open_listener(
    app: web.Application,
    host: str,
    port: int,
    *,
    bounds: Bounds,
    tls: ssl.SSLContext | None = None,
    proxies: Sequence[Network] = (),
    grace_seconds: float = GRACE_SECONDS,
) -> AsyncIterator[tuple[str, int]]:
    """Serve the application until the context ends, and yield the host and port. Raise OSError or UnicodeError if
    listening fails.
    """
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=grace_seconds)
    await runner.setup()
    connections = Connections(bounds, proxies)
    async with AsyncExitStack() as stack:
        stack.callback(connections.close)
        stack.push_async_callback(runner.cleanup)
        stack.callback(connections.stop)
        assert runner.server is not None
        if ANSWERING_ALL in app:
            runner.server.request_handler = app[ANSWERING_ALL](runner.server.request_handler)
        handler = partial(
            app.get(REQUEST_HANDLER, web.RequestHandler),
            runner.server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            lingering_time=LINGERING_SECONDS,
            auto_decompress=False,
            max_field_size=LARGEST_HEADER,
            max_headers=MOST_HEADERS,
        )
        protocol = partial(connections.protocol, handler)
        opened = await asyncio.to_thread(listeners, host, port)
        for each in opened:
            stack.enter_context(Accepting(each, protocol, tls))
        yield opened[0].getsockname()[:2]


class Accepting(AbstractContextManager[None]):
    """A listener that accepts connections until its context ends.

    It replaces the server of asyncio, which has two problems. If memory runs out once, that server never accepts
    again. It also reports a TLS connection only after the handshake, so unfinished handshakes are not counted.
    """

    def __init__(self, listener: socket.socket, protocol: NewConnection, tls: ssl.SSLContext | None) -> None:
        self._listener = listener
        self._protocol = protocol
        self._opening = Opening(tls)
        self._told = RepeatedFailures(LOG)
        self._loop = asyncio.get_running_loop()
        self._again: asyncio.TimerHandle | None = None
        self._begin()

    def __exit__(self, *error: object) -> None:
        if self._again is not None:
            self._again.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()
        self._opening.close()

    def _begin(self) -> None:
        self._loop.add_reader(self._listener, self._accept)
        self._again = None

    def _accept(self) -> None:
        """Accept many connections in one call.

        If too many connections wait in the system's queue, the system drops some. Their clients try again after a
        second.
        """
        try:
            try:
                for _ in range(ACCEPTED_AT_ONCE):
                    self._accept_one()
            finally:
                self._opening.go_on()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            self._pause()
            self._told.failed(NOT_ACCEPTED, error)
        except MemoryError as error:
            self._told.failed(NOT_ACCEPTED, error)  # a pause would need memory

    def _accept_one(self) -> None:
        accepted, peer = _accepted(self._listener)
        connection = self._protocol()
        connection.count(peer)
        self._opening.add(connection, accepted)
        self._told.over(NOT_ACCEPTED)

    def _pause(self) -> None:
        self._again = self._loop.call_later(AGAIN_SECONDS, self._begin)
        self._loop.remove_reader(self._listener)


def _accepted(listener: socket.socket) -> tuple[socket.socket, Any]:
    opened, peer = listener.accept()
    opened.setblocking(False)
    return opened, peer
