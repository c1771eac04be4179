"""Limits for open connections, and for the time that each client may keep the service waiting.

A client can be idle, send only a part of a head or body, or not read its answer. Then its connection still uses an
open file and memory. Therefore all these states have a time limit. The number of connections is limited in total
and per address. Above the limit, wmsd closes a connection of the address with the most connections: the one that
has waited longest for its client. A connection whose request is being processed is never closed because of this
limit.
"""

import asyncio
import logging
import socket
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, cast

from wmsd.base.client_addresses import Network, counted_as, is_in
from wmsd.base.dataclass import dataclass
from wmsd.base.plurals import count_of
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.request_head import RequestHead

LOG = logging.getLogger("wmsd.connections")
HEAD_SECONDS: Final = 10.0
"""The maximum number of seconds in which the head of a request must arrive."""
READING_SECONDS: Final = 20.0
"""The seconds within which the client must read an answer. A longer answer gets more time."""
LEAST_BYTES_A_SECOND: Final = 64 * 1024
LOOK_SECONDS: Final = 1.0
KERNEL_BYTES: Final = 128 * 1024
TELL_SECONDS: Final = 60.0
MOST_NAMED: Final = 1000
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
TIMED_OUT: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
HEAD_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits for connections and unread bytes: in total, per address, and per company."""

    connections: int = 4096
    connections_of_an_address: int = 512
    unread_bytes: int = 64 * 1024 * 1024
    unread_bytes_of_a_company: int = 32 * 1024 * 1024


class Stopping(Exception):
    """The error for a request whose body is still arriving when the service stops."""


class Connection(asyncio.Protocol):
    """A protocol between asyncio and aiohttp. It watches the events of a connection, and passes them on to
    aiohttp.
    """

    def __init__(self, connections: "Connections", make_inner: Callable[[], asyncio.Protocol]) -> None:
        self._connections = connections
        self._make_inner = make_inner
        self._inner: asyncio.Protocol
        self._transport: asyncio.Transport | None = None
        self.opening: Callable[[], object] | None = None
        """The function that cancels the opening of this connection. None if it cannot be cancelled any more."""
        self.is_cut = False
        self.is_finished = False
        """True if the client sends nothing more, but still gets its answer."""
        self.may_finish = True
        """True if the client still gets its answer after it has closed its side of the connection.

        False for pages, because a browser that closes its side has left.
        """
        self.awaits_continue = False
        """True if the client waits for "100 Continue" before it sends the body of its request."""
        self._is_silent = True
        """True until the first data arrives."""
        self._requests = 0
        self.address = ""
        self.is_proxy = False
        self.company: int | None = None
        """The id of the company whose answer was sent last. None if that answer was for no company, or if there
        was no answer yet.
        """
        self.waiting_since: float | None = None
        """The loop's time when the wait for the client began; None while a request is processed."""
        self.head_since: float | None = None
        """The time when the head began to arrive; None while no head is arriving."""
        self.head = RequestHead()
        """The head of a request that arrived last, or is arriving now."""
        self.read_until: float | None = None
        """The time by which the client must have read its answer; None if nothing is left to read."""
        self.body: asyncio.Timeout | None = None
        """The time limit for the next part of a body; None if the service does not wait for a part."""

    # --- called by asyncio ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        opened = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from asyncio.Transport
        if self.is_cut:
            opened.abort()
            return
        self._transport = opened
        _limit_kernel_buffer(opened)
        self.opening = None
        self._inner = self._make_inner()  # created late, because many connections are cut before
        self._inner.connection_made(opened)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is None:
            return  # the connection was cut before it was opened
        self._connections.remove(self)
        self._inner.connection_lost(exc)
        self._transport = None

    def data_received(self, data: bytes) -> None:
        if self.waiting_since is not None and self.head_since is None:
            self.head_since = self._connections.time()
        self._is_silent = False
        if self.waiting_since is not None and self.head.is_too_large_with(data):
            self._refuse_head()
        else:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        """Return True if the connection must stay open for its answer, although the client sends nothing more.

        A client may close its side and wait for the answer (RFC 9293, section 3.6). wmsd cannot tell such a client
        from a client that has left. Without this method, aiohttp drops the request.
        """
        is_at_work = self.waiting_since is None and self.may_finish
        has_asked = is_at_work or (self.head_since is not None and not self._is_silent)
        is_tls = self._transport is not None and self._transport.get_extra_info("sslcontext") is not None
        self.is_finished = has_asked and not is_tls  # asyncio always closes both sides of TLS
        return self.is_finished or self._inner.eof_received()

    def pause_writing(self) -> None:
        self.read_until = self._connections.time() + READING_SECONDS + self.unread / LEAST_BYTES_A_SECOND
        self._inner.pause_writing()
        self._connections.is_unread(self)

    def resume_writing(self) -> None:
        self.read_until = None
        self._connections.is_read(self)
        self._inner.resume_writing()

    def count(self, peer: tuple[str, int] | None) -> None:
        """Count the connection, and start its waiting time. Call this when the connection is accepted."""
        host = peer[0] if peer else ""
        self.address, self.is_proxy = counted_as(host), is_in(host, self._connections.proxies)
        self.waiting_since = self.head_since = self._connections.time()
        self._connections.add(self)

    def gave_up(self) -> None:
        """Remove this connection from the count, because it could not be opened."""
        self.opening = None
        self._connections.remove(self)

    # --- called by the server ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Record that a request is being processed."""
        self._requests += 1
        self.waiting_since = self.head_since = None
        self._connections.is_at_work_for(self)

    def end(self, company: int | None = None, request_is_whole: bool = False) -> None:
        """Record that the connection waits for its client again.

        `company` is the id of the company whose answer was sent last. If the whole request has arrived, set
        `request_is_whole`: the next data is then the beginning of a new head.
        """
        self.waiting_since, self.company = self._connections.time(), company
        if request_is_whole:
            self.head = RequestHead()
        self._connections.waits_for(self)

    def ask_for_body(self) -> None:
        """Send "100 Continue" if the client waits for it. The client then sends the body."""
        if self.awaits_continue and self._transport is not None:
            self._transport.write(CONTINUE)
        self.awaits_continue = False

    def ends_with(self, request: web.Request) -> bool:
        """Return True if `request`, whose answer is being sent, is the last request of the connection.

        It is the last if the client has closed its side. It is also the last if the client still waits for "100
        Continue": such a client may never send the body.
        """
        awaits, self.awaits_continue = self.awaits_continue, False
        return self.is_finished or (awaits and not request.content.is_eof())

    # --- state and closing ---------------------------------------------------------------------------------------

    @property
    def unread(self) -> int:
        """The number of bytes that the client has not read yet."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    @property
    def is_stopping(self) -> bool:
        return self._connections.is_stopping

    def is_overdue(self, now: float) -> bool:
        if self.read_until is not None:
            return now > self.read_until
        if self.waiting_since is None:
            return False
        if self.is_finished and not self.unread:  # the client has sent only a part of a request
            return now > self.waiting_since + LOOK_SECONDS
        if self.head_since is not None and now > self.head_since + HEAD_SECONDS:
            return True
        return now > self.waiting_since + READING_SECONDS and self.unread > 0

    def _refuse_head(self) -> None:
        assert self._transport is not None
        if not self._transport.is_closing():
            self._transport.write(HEAD_TOO_LARGE)
            self._transport.close()

    def cut(self) -> None:
        self.is_cut = True
        # `opening` refers to this connection; only a garbage collection would free both.
        opening, self.opening = self.opening, None
        if opening is not None:
            opening()
        if self._transport is None:
            return
        if self.head_since is not None and not self._requests and not self.unread and not self.is_finished:
            self._transport.write(TIMED_OUT)
            self._transport.close()
        else:
            self._transport.abort()


class Connections:
    def __init__(self, bounds: Bounds, proxies: Sequence[Network] = ()) -> None:
        self._bounds = bounds
        self.proxies = proxies
        self._of_address: dict[str, dict[Connection, None]] = {}
        self._waiting: dict[str, dict[Connection, None]] = {}
        """The connections that wait for their client, by address, the longest waiting connection first."""
        self._unread: dict[Connection, None] = {}
        self._number = 0
        self._closed: Counter[str] = Counter()
        """The number of connections of each address that were closed since the last log line."""
        self.is_stopping = False
        self._told_at = -TELL_SECONDS
        self._loop = asyncio.get_running_loop()
        self._next_look = self._loop.call_later(LOOK_SECONDS, self._look)
        self.time = self._loop.time

    def __len__(self) -> int:
        return self._number

    def protocol(self, make_inner: Callable[[], asyncio.Protocol]) -> Connection:
        """Return the protocol for a client that was just accepted. `make_inner` creates aiohttp's protocol for
        this client.
        """
        return Connection(self, make_inner)

    def stop(self) -> None:
        """Stop waiting for bodies. Requests whose bodies are still arriving are refused."""
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
        self.waits_for(connection)
        if len(beside) > self._bounds.connections_of_an_address and not connection.is_proxy:
            self._cut_one(connection.address)
        elif self._number > self._bounds.connections:
            self._cut_one(max(self._waiting, key=self._burden))

    def remove(self, connection: Connection) -> None:
        self._unread.pop(connection, None)
        self.is_at_work_for(connection)
        beside = self._of_address.get(connection.address, {})
        if beside.pop(connection, connection) is None:
            self._number -= 1
        if not beside:
            self._of_address.pop(connection.address, None)

    def waits_for(self, connection: Connection) -> None:
        if connection in self._of_address.get(connection.address, {}):  # not cut meanwhile
            waiting = self._waiting.setdefault(connection.address, {})
            waiting.pop(connection, None)
            waiting[connection] = None

    def is_at_work_for(self, connection: Connection) -> None:
        waiting = self._waiting.get(connection.address, {})
        waiting.pop(connection, None)
        if not waiting:
            self._waiting.pop(connection.address, None)

    def is_unread(self, connection: Connection) -> None:
        """Record that the client of `connection` reads too slowly.

        If too many bytes are unread, close connections of slow clients, and begin with the client that has been
        slow longest.
        """
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

    def _burden(self, address: str) -> tuple[int, float]:
        """Return a sort key for the load of an address.

        First comes the number of its connections, then the time for which its oldest connection has waited.
        """
        return len(self._of_address[address]), -(next(iter(self._waiting[address])).waiting_since or 0.0)

    def _cut_one(self, address: str) -> None:
        """Close one connection of the address: the connection that has waited longest for its client."""
        self._cut(next(iter(self._waiting[address])))

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
        self._next_look = self._loop.call_later(LOOK_SECONDS, self._look)  # first, to repeat even after a failure
        now = self.time()
        for each in [each for each in self._all() if each.is_overdue(now)]:
            self._cut(each)
        if self._closed and now - self._told_at >= TELL_SECONDS:
            ((address, most),) = self._closed.most_common(1)
            LOG.info(
                "closed %s that were too slow or over the limit (server.connections_per_address): %d of them "
                "came from %s, and %d connections are open now",
                count_of(self._closed.total(), "connection"),
                most,
                address,
                self._number,
            )
            self._told_at = now
            self._closed.clear()


def _limit_kernel_buffer(transport: asyncio.BaseTransport) -> None:
    """Limit how much data the kernel buffers for a client that does not read. The kernel's default is some
    megabytes.
    """
    opened = transport.get_extra_info("socket")
    if opened is not None:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)


def reset_when_closed(request: web.Request, is_on: bool) -> None:
    """Choose how the connection closes from now on: with a reset if `is_on` is True, otherwise normally.

    Switch the reset on when the answer begins, and off when the answer is complete. An answer may have neither a
    length nor chunks, because many proxies use HTTP/1.0, which has no chunks. A client takes the normal close of
    such an answer as its end (RFC 9112, section 8). A reset shows the client that the answer is incomplete.
    """
    opened = None if request.transport is None else request.transport.get_extra_info("socket")
    if opened is not None:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", is_on, 0))


def of(request: web.BaseRequest) -> Connection | None:
    """Return the connection of a request, or None under a server that does not use `Connection`, as in tests."""
    transport = request.transport
    protocol = None if transport is None else transport.get_protocol()
    return protocol if isinstance(protocol, Connection) else None
