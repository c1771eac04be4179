"""Opens aiohttp's connections. The guard checks each address when its socket is created. So wmsd connects only to
checked addresses.
"""

import asyncio
import re
import socket
import ssl
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import field
from enum import Enum
from typing import Any, Final, cast

from wmsd.base.aiohttp_without_cas import left_unread
from wmsd.base.dataclass import dataclass
from wmsd.http_client.deadlines import Countdowns
from wmsd.http_client.dns_resolver import DnsResolver
from wmsd.http_client.guard import Guard
from wmsd.http_client.urls import literal

with left_unread():
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult

KEEP_SECONDS: Final = 2.0
MOST_KEPT: Final = 128
"""The maximum number of idle connections. A company may have any number of hosts, and each connection is an open
file.
"""
WANTED_BYTES: Final = 2048
"""By default, wmsd reads this many bytes of an answer's body."""
MOST_BYTES: Final = 65_536
"""The usual maximum size of an answer, including head and framing. A normal answer is smaller. For clients that
want large bodies, `most_bytes` returns a larger maximum.
"""
NO_BODY: Final = re.compile(rb"HTTP/1\.[01] 204[ \r]")
"""The first bytes of an answer with the status 204, which has no body (RFC 9110, section 15.3.5)."""
END_OF_HEAD: Final = b"\r\n\r\n"
FINAL_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([2-9]\d\d)[ \r]")
STATUS_BYTES: Final = 13
"""The number of bytes from the beginning of an answer to the end of its status."""
JUDGED_SECONDS: Final = 2.0
"""The time limit for looking up the receiver's name if a proxy is used. Behind a proxy, name servers often do not
know the name, or do not answer.
"""
LATER_SECONDS: Final = 1.0
"""wmsd closes idle connections itself. aiohttp's time limit for idle connections is longer by this many seconds.
"""


def most_bytes(wanted: int) -> int:
    """Return the maximum size of an answer, including head and framing. `wanted` is how many bytes of its body are
    read.
    """
    return max(MOST_BYTES, 2 * wanted)


class Phase(Enum):
    """What an attempt is waiting for."""

    NAME = "the address of the host"
    CONNECTION = "a connection"
    TLS = "the TLS handshake"
    ANSWER = "an answer"
    BODY = "the rest of the answer"


class ProxyUnknown(OSError):
    """The name of the proxy cannot be found by the name servers."""


class NotAllowed(OSError):
    """The guard does not allow the address. The reason is only for the log: the user who entered the host name
    must not learn its addresses.
    """


@dataclass(slots=True, eq=False, repr=False)
class Attempt:
    """A request: its headers, its progress, and the part of the answer that has arrived."""

    scheme: str
    host: str
    port: int
    sent: Mapping[str, str]
    party: int
    wanted: int = WANTED_BYTES
    """How many bytes of the body to read."""
    phase: Phase = Phase.NAME
    is_dialled: bool = False
    wire: "Connection | None" = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    is_whole: bool = False

    @property
    def most(self) -> int:
        """The maximum size of the answer, including head and framing."""
        return most_bytes(self.wanted)

    @property
    def is_cut(self) -> bool:
        """True if the body is longer than `wanted`. The client reads one extra byte to detect this."""
        if self.status is None or self.is_whole:
            return False
        return len(self.body) > self.wanted or (self.wire is not None and self.wire.is_flooded)

    @property
    def may_be_stale(self) -> bool:
        """True if the receiver may have closed the connection before the request. This is possible if the
        connection is reused and no data has arrived.
        """
        return self.wire is not None and not self.is_dialled and not self.wire.received


ATTEMPT: ContextVar[Attempt] = ContextVar("attempt")


class Connection(asyncio.Protocol):
    """Stands between asyncio and aiohttp. It passes received data to aiohttp, up to the maximum size of an answer.
    If more data arrives, or if data arrives without a request, it closes the connection.

    So a receiver cannot send endless headers. It also cannot send data while no request is running.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        inner: asyncio.Protocol,
        idle: "Countdowns[Connection]",
        attempt: Attempt,
    ) -> None:
        self._transport = transport
        self._inner = inner
        self._idle = idle
        self._attempt = attempt
        """The last attempt that began on this connection."""
        self.received = 0
        self._beginning = b""
        """The first bytes of the answer, up to the end of its status."""

    def begin(self, attempt: Attempt) -> None:
        self.received = 0
        self._beginning = b""
        self._attempt = attempt
        self._idle.end(self)

    def end(self, attempt: Attempt) -> None:
        """End the attempt on this connection. Do nothing if the connection already has a new attempt: aiohttp may
        reuse the connection before the old attempt ends.
        """
        if self._attempt is not attempt:
            return
        if self._transport.is_closing() or len(self._idle) >= MOST_KEPT:
            self.break_off()
        else:
            self._idle.begin(self)

    @property
    def is_flooded(self) -> bool:
        return self.received > self._attempt.most

    def data_received(self, data: bytes) -> None:
        room = self._attempt.most - self.received
        self.received += len(data)
        self._beginning += data[: STATUS_BYTES - len(self._beginning)]
        if room <= 0 or self in self._idle:
            self.break_off()
            return
        head, end, rubbish = data.partition(END_OF_HEAD)
        if rubbish and len(head) < room and NO_BODY.match(data):  # no part of the 204 answer
            self._inner.data_received(head + end)
            self.break_off()
            return
        self._inner.data_received(data if len(data) <= room else data[:room])
        if self.is_flooded:
            self._note_status()
            self.break_off()

    def _note_status(self) -> None:
        """Store the status in the attempt, even if the head of the answer is incomplete."""
        found = FINAL_STATUS.match(self._beginning)
        if self._attempt.status is None and found:
            self._attempt.status = int(found[1])

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._idle.end(self)
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def break_off(self) -> None:
        """Close the connection immediately; aiohttp informs the code that reads. A TLS shutdown would wait half a
        minute for a receiver that does not answer.
        """
        self._transport.abort()


class Handshake(ssl.SSLObject):
    """A TLS connection. When its handshake begins, it sets the phase of the attempt to `Phase.TLS`."""

    def do_handshake(self) -> None:
        attempt = ATTEMPT.get(None)
        if attempt is not None:
            attempt.phase = Phase.TLS
        super().do_handshake()


class Connector(aiohttp.TCPConnector):
    """A connector without a connection limit, because the sender limits the attempts. The context variable
    `ATTEMPT` has the attempt for which a connection is opened.
    """

    def __init__(self, guard: Guard, resolver: DnsResolver, *, keeps: bool, has_proxy: bool = False) -> None:
        """Create the connector. `keeps` is True if a connection may be used for several requests. If `has_proxy`,
        all requests go through the proxy, and the guard does not check the address of the proxy.
        """
        guarded = _GuardedResolver(guard, resolver)
        super().__init__(
            resolver=_ProxyResolver(resolver) if has_proxy else guarded,
            use_dns_cache=False,
            socket_factory=self._new_socket,
            limit=0,
            **({"keepalive_timeout": KEEP_SECONDS + LATER_SECONDS} if keeps else {"force_close": True}),
        )
        self._guard = guard
        self._guarded = guarded
        self._has_proxy = has_proxy
        self._idle = Countdowns(KEEP_SECONDS, Connection.break_off)
        """The idle connections. wmsd closes them just before aiohttp does, for two reasons. aiohttp does not limit
        their number. And to close a TLS connection, aiohttp may wait half a minute for the receiver.
        """

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: Any,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # aiohttp's name
    ) -> "aiohttp.connector.Connection":
        attempt = ATTEMPT.get()
        if self._has_proxy:
            await self._judge_for_proxy(attempt)
        while True:
            connection = await super().connect(req, traces, timeout)
            if attempt.is_dialled or not _has_spoken(connection):
                break
            connection.close()
        attempt.wire = self._wire(connection.transport, attempt)
        attempt.phase = Phase.ANSWER
        return connection

    async def _judge_for_proxy(self, attempt: Attempt) -> None:
        """Let the guard check the receiver's addresses before the request goes to the proxy. The proxy later looks
        up the name itself.

        If this machine cannot look up the name, accept it for https only. Raise the same errors as
        `_GuardedResolver.resolve`.
        """
        if literal(attempt.host) is not None:
            return  # the address was checked with the URL
        try:
            async with asyncio.timeout(JUDGED_SECONDS):
                await self._guarded.resolve(attempt.host, attempt.port)
        except (TimeoutError, socket.gaierror):
            if attempt.scheme != "https":
                raise  # http is only for listed networks, and the network of this name is unknown
        attempt.phase = Phase.CONNECTION

    def _wire(self, transport: asyncio.Transport | None, attempt: Attempt) -> Connection | None:
        """Begin the attempt on the connection of `transport`, and return the connection. Return None if the
        connection is already lost.
        """
        if transport is None:
            return None
        wire = transport.get_protocol()
        if not isinstance(wire, Connection):
            wire = Connection(transport, cast(asyncio.Protocol, wire), self._idle, attempt)
            transport.set_protocol(wire)
        wire.begin(attempt)
        return wire

    def _new_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Return a new socket. Raise NotAllowed if the guard does not allow the address. aiohttp calls this for
        every new connection, even if the URL contains the address.
        """
        family, kind, protocol, _, address = info
        attempt = ATTEMPT.get()
        attempt.is_dialled = True
        attempt.phase = Phase.CONNECTION
        objection = self._guard.objection(address[0], attempt.scheme, address[1])
        if objection and not self._has_proxy:
            raise NotAllowed(objection)
        return socket.socket(family, kind, protocol)


def _has_spoken(connection: "aiohttp.connector.Connection") -> bool:
    """Return True if the connection cannot be used again. It was closed, or it has received data that no request
    asked for.
    """
    return connection.protocol is None or connection.protocol.should_close


class _GuardedResolver(AbstractResolver):
    """A resolver that rejects a name if any of its addresses is forbidden, because attackers mix allowed and
    forbidden addresses.
    """

    def __init__(self, guard: Guard, resolver: DnsResolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of the host. Raise NotAllowed, OSError or UnicodeError."""
        attempt = ATTEMPT.get()
        addresses = await self._resolver.addresses(host, attempt.party)
        for address in addresses:
            objection = self._guard.objection(address, attempt.scheme, port)
            if objection:
                raise NotAllowed(f"an address of {host} is not allowed: {objection}")
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        pass


class _ProxyResolver(AbstractResolver):
    """Looks up the name of the proxy, which the settings contain."""

    def __init__(self, resolver: DnsResolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of the proxy. Raise ProxyUnknown or LookupFailed."""
        try:
            addresses = await self._resolver.addresses(host)
        except socket.gaierror as error:
            raise ProxyUnknown(*error.args) from error
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        pass


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return {"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}
