"""Every connection, and what its client keeps the service waiting for.

A client that sends nothing, half a head or half a body, or that does not read its answer, costs a file and memory
for as long as it likes. So each of these has its time, and connections have their number, of one address and in
all. Beyond it the one that has kept waiting the longest is closed, of the address that has the most.
"""

import asyncio
import contextlib
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from wmsd.base.addresses import Network, counted_as, is_in
from wmsd.interfaces.http.web import web

LOG = logging.getLogger("wmsd.connections")
HEAD_SECONDS: Final = 10.0
"""For the head of a request to arrive."""
READING_SECONDS: Final = 20.0
"""For an answer to be read, and more as it is longer."""
LEAST_BYTES_A_SECOND: Final = 64 * 1024
LOOK_SECONDS: Final = 1.0
KERNEL_BYTES: Final = 128 * 1024
TELL_SECONDS: Final = 60.0
MOST_NAMED: Final = 1000
TIMED_OUT: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much clients may keep, together and each."""

    connections: int = 4096
    connections_of_an_address: int = 512
    unread_bytes: int = 128 * 1024 * 1024
    unread_bytes_of_a_company: int = 32 * 1024 * 1024


class Stopping(Exception):
    """The service is about to end."""


class Connection(asyncio.Protocol):
    """Stands between asyncio and aiohttp's protocol, which it hands everything on to."""

    def __init__(self, connections: "Connections", inner: asyncio.Protocol) -> None:
        self._connections = connections
        self._inner = inner
        self._transport: asyncio.Transport | None = None
        self.opening: asyncio.Task[None] | None = None
        """Until its transport is made; under TLS that is the end of the handshake."""
        self.is_cut = False
        self._requests = 0
        self.address = ""
        self.is_proxy = False
        self.company: int | None = None
        """Whose answer it was sent last."""
        self.waiting_since: float | None = None
        """For its client; None while a request of it is worked on."""
        self.head_since: float | None = None
        """Since when a head is on its way."""
        self.read_until: float | None = None
        """When what it was sent is to be read; None while nothing waits for that."""
        self.body: asyncio.Timeout | None = None
        """Of the part of a body that is waited for."""

    # --- what asyncio tells -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        opened = cast(asyncio.Transport, transport)  # uvloop's are none by their type
        self._transport = opened
        _limit_kernel_buffer(opened)
        self.opening = None
        self._inner.connection_made(opened)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        self._inner.connection_lost(exc)
        self._transport = None

    def data_received(self, data: bytes) -> None:
        if self.waiting_since is not None and self.head_since is None:
            self.head_since = self._connections.time()
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self.read_until = self._connections.time() + READING_SECONDS + self.unread / LEAST_BYTES_A_SECOND
        self._inner.pause_writing()
        self._connections.is_unread(self)

    def resume_writing(self) -> None:
        self.read_until = None
        self._connections.is_read(self)
        self._inner.resume_writing()

    def count(self, peer: tuple[str, int] | None) -> None:
        """From the moment that it is accepted."""
        host = peer[0] if peer else ""
        self.address, self.is_proxy = counted_as(host), is_in(host, self._connections.proxies)
        self.waiting_since = self.head_since = self._connections.time()
        self._connections.add(self)

    def gave_up(self) -> None:
        """It could not be opened."""
        self.opening = None
        self._connections.remove(self)

    # --- what the server tells ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """A request of it is worked on."""
        self._requests += 1
        self.waiting_since = self.head_since = None

    def end(self, company: int | None = None) -> None:
        """It waits for its client, to whom it sends an answer of this company."""
        self.waiting_since, self.company = self._connections.time(), company

    # --- what there is to know and to do ------------------------------------------------------------------------

    @property
    def unread(self) -> int:
        """Bytes that its client has not taken yet."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    @property
    def is_stopping(self) -> bool:
        return self._connections.is_stopping

    def is_overdue(self, now: float) -> bool:
        if self.read_until is not None:
            return now > self.read_until
        if self.waiting_since is None:
            return False
        if self.head_since is not None and now > self.head_since + HEAD_SECONDS:
            return True
        return now > self.waiting_since + READING_SECONDS and self.unread > 0

    def cut(self) -> None:
        self.is_cut = True
        if self.opening is not None:
            self.opening.cancel()
        if self._transport is None:
            return
        if self.head_since is not None and not self._requests and not self.unread:
            self._transport.write(TIMED_OUT)
            self._transport.close()
        else:
            self._transport.abort()


class Connections:
    def __init__(self, bounds: Bounds, proxies: Sequence[Network] = ()) -> None:
        self._bounds = bounds
        self.proxies = proxies
        self._of_address: dict[str, dict[Connection, None]] = {}
        self._unread: dict[Connection, None] = {}
        self._number = 0
        self._closed: Counter[str] = Counter()
        """Since that was told, by address."""
        self.is_stopping = False
        self._told_at = -TELL_SECONDS
        self._loop = asyncio.get_running_loop()
        self._next_look = self._loop.call_later(LOOK_SECONDS, self._look)
        self.time = self._loop.time

    def __len__(self) -> int:
        return self._number

    def protocol(self, server: web.Server) -> Connection:
        """For a client that was just accepted."""
        return Connection(self, server())

    def stop(self) -> None:
        """Nothing is waited for any more: bodies that are on their way are refused."""
        self.is_stopping = True
        for each in self._all():
            if each.body is not None and not each.body.expired():
                each.body.reschedule(0)

    def close(self) -> None:
        self._next_look.cancel()

    def add(self, connection: Connection) -> None:
        beside = self._of_address.setdefault(connection.address, {})
        beside[connection] = None
        self._number += 1
        if len(beside) > self._bounds.connections_of_an_address and not connection.is_proxy:
            self._cut_one(beside, connection)
        elif self._number > self._bounds.connections:
            self._cut_one(max(self._of_address.values(), key=len), connection)

    def remove(self, connection: Connection) -> None:
        self._unread.pop(connection, None)
        beside = self._of_address.get(connection.address, {})
        if beside.pop(connection, connection) is None:
            self._number -= 1
        if not beside:
            self._of_address.pop(connection.address, None)

    def is_unread(self, connection: Connection) -> None:
        """Its client is slow to read. Closes those that have been so the longest, where too much is unread."""
        self._unread[connection] = None
        company = connection.company
        if company is not None:
            of_company = [each for each in self._unread if each.company == company]
            self._cut_unread(of_company, self._bounds.unread_bytes_of_a_company)
        self._cut_unread(list(self._unread), self._bounds.unread_bytes)

    def is_read(self, connection: Connection) -> None:
        self._unread.pop(connection, None)

    def _all(self) -> dict[Connection, None]:
        return {each: None for beside in self._of_address.values() for each in beside}

    def _cut_one(self, beside: dict[Connection, None], newest: Connection) -> None:
        """The one of these that has kept waiting the longest; the newest, where all others are worked on."""
        waiting = [each for each in beside if each.waiting_since is not None and each is not newest]
        self._cut(min(waiting, key=lambda each: each.waiting_since or 0.0, default=newest))

    def _cut_unread(self, connections: list[Connection], most: int) -> None:
        unread = sum(each.unread for each in connections)
        for each in connections:
            if unread <= most:
                return
            unread -= each.unread
            self._cut(each)

    def _cut(self, connection: Connection) -> None:
        if len(self._closed) < MOST_NAMED or connection.address in self._closed:
            self._closed[connection.address] += 1
        self.remove(connection)
        connection.cut()

    def _look(self) -> None:
        self._next_look = self._loop.call_later(LOOK_SECONDS, self._look)  # first: it must go on whatever happens
        now = self.time()
        for each in [each for each in self._all() if each.is_overdue(now)]:
            self._cut(each)
        if self._closed and now - self._told_at >= TELL_SECONDS:
            ((address, most),) = self._closed.most_common(1)
            LOG.info(
                "closed %d connections, too slow or too many (server.connections_per_address), %d of them of %s; "
                "%d are open",
                self._closed.total(),
                most,
                address,
                self._number,
            )
            self._told_at = now
            self._closed.clear()


def _limit_kernel_buffer(transport: asyncio.BaseTransport) -> None:
    """What a client does not read waits in the kernel first, by default some megabytes of it."""
    opened = transport.get_extra_info("socket")
    if opened is not None:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)


def of(request: web.Request) -> Connection | None:
    """None under a server that does not keep them."""
    transport = request.transport
    protocol = None if transport is None else transport.get_protocol()
    return protocol if isinstance(protocol, Connection) else None


@contextlib.asynccontextmanager
async def waiting_for_body(request: web.Request, until: float) -> AsyncIterator[None]:
    """While more of a body is awaited, the connection is one of those that may be closed for others.

    Raises TimeoutError at `until`, on the clock of the loop, and Stopping when the service stops.
    """
    connection = of(request)
    if connection is None:
        async with asyncio.timeout_at(until):
            yield
        return
    if connection.is_stopping:
        raise Stopping
    connection.end(connection.company)
    try:
        async with asyncio.timeout_at(until) as connection.body:
            yield
    except TimeoutError:
        if connection.is_stopping:
            raise Stopping from None
        raise
    finally:
        connection.body = None
        connection.begin()
