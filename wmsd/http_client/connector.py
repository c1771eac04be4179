"""aiohttp's connections with a guard where the socket is made: what is judged is what is dialled."""

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
"""A tenant may have as many hosts as it likes, and each connection is an open file."""
WANTED_BYTES: Final = 2048
"""Of the body that a receiver of webhooks answers with."""
MOST_BYTES: Final = 65_536
"""Of one answer, head and framing included. An honest one of which 2 kB are wanted needs fewer."""
NO_BODY: Final = re.compile(rb"HTTP/1\.[01] 204[ \r]")
"""Begins an answer that ends with its head (RFC 9110, section 15.3.5)."""
END_OF_HEAD: Final = b"\r\n\r\n"
FINAL_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([2-9]\d\d)[ \r]")
STATUS_BYTES: Final = 13
"""How many bytes of a status line have the status."""
JUDGED_SECONDS: Final = 2.0
"""The time for the name of a receiver behind a proxy: often no name server here knows it, or answers."""
LATER_SECONDS: Final = 1.0
"""By which aiohttp closes idle connections later than they are broken off here."""


def most_bytes(wanted: int) -> int:
    """Bytes of an answer in all, head and framing included, of whose body these are wanted."""
    return max(MOST_BYTES, 2 * wanted)


class Phase(Enum):
    """What an attempt waits for."""

    NAME = "the address of the host"
    CONNECTION = "a connection"
    TLS = "the TLS handshake"
    ANSWER = "an answer"
    BODY = "the rest of the answer"


class ProxyUnknown(OSError):
    """Nobody knows the name of the proxy."""


class NotAllowed(OSError):
    """The guard's objection: for the log. What a name leads to is no business of who wrote the name."""


@dataclass(slots=True, eq=False, repr=False)
class Attempt:
    """The headers of one request, how far it has come, and what is known of its answer."""

    scheme: str
    host: str
    port: int
    sent: Mapping[str, str]
    party: int
    wanted: int = WANTED_BYTES
    """Bytes of the body."""
    phase: Phase = Phase.NAME
    is_dialled: bool = False
    wire: "Connection | None" = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    is_whole: bool = False

    @property
    def most(self) -> int:
        """Bytes of the answer in all, head and framing included."""
        return most_bytes(self.wanted)

    @property
    def is_cut(self) -> bool:
        """Whether there is more of the body than was wanted: one byte is read to see it."""
        if self.status is None or self.is_whole:
            return False
        return len(self.body) > self.wanted or (self.wire is not None and self.wire.is_flooded)

    @property
    def may_be_stale(self) -> bool:
        """Whether it failed because the connection that it was given had been closed by the receiver before."""
        return self.wire is not None and not self.is_dialled and not self.wire.received


ATTEMPT: ContextVar[Attempt] = ContextVar("attempt")


class Connection(asyncio.Protocol):
    """Stands between asyncio and aiohttp's protocol, which it hands everything on to.

    So a receiver cannot flood a connection: neither with heads without an end, nor while nothing is asked.
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
        """The last that began."""
        self.received = 0
        self._beginning = b""
        """Of the answer."""

    def begin(self, attempt: Attempt) -> None:
        self.received = 0
        self._beginning = b""
        self._attempt = attempt
        self._idle.end(self)

    def end(self, attempt: Attempt) -> None:
        """Another may have begun already: aiohttp hands a connection on before who has read from it goes on."""
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
        if rubbish and len(head) < room and NO_BODY.match(data):  # what follows is no part of an answer
            self._inner.data_received(head + end)
            self.break_off()
            return
        self._inner.data_received(data if len(data) <= room else data[:room])
        if self.is_flooded:
            self._note_status()
            self.break_off()

    def _note_status(self) -> None:
        """The status line decides, also where its head does not end."""
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
        """At once: TLS's farewell would wait half a minute for a receiver that says none. Who reads is told."""
        self._transport.abort()


class Handshake(ssl.SSLObject):
    """Notes in the attempt that its TLS has begun."""

    def do_handshake(self) -> None:
        attempt = ATTEMPT.get(None)
        if attempt is not None:
            attempt.phase = Phase.TLS
        super().do_handshake()


class Connector(aiohttp.TCPConnector):
    """Has no limit: the sender counts. `ATTEMPT` is who dials."""

    def __init__(self, guard: Guard, resolver: DnsResolver, *, keeps: bool, has_proxy: bool = False) -> None:
        """`keeps`: whether connections are used again. `has_proxy`: only the proxy is dialled, which may be
        anywhere.
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
        """Connections that wait for a next request. aiohttp keeps as many as there are hosts, and takes leave of
        each: under TLS it would wait half a minute for a receiver that says nothing. So they are broken off here,
        just before aiohttp would close them.
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
        """The proxy looks the name up itself. So it is looked up here only to be judged, where that is known here.
        Raises what `_GuardedResolver` raises.
        """
        if literal(attempt.host) is not None:
            return  # judged with the URL
        try:
            async with asyncio.timeout(JUDGED_SECONDS):
                await self._guarded.resolve(attempt.host, attempt.port)
        except (TimeoutError, socket.gaierror):
            if attempt.scheme != "https":
                raise  # it is only for networks that are listed, and nobody knows its network
        attempt.phase = Phase.CONNECTION

    def _wire(self, transport: asyncio.Transport | None, attempt: Attempt) -> Connection | None:
        """The connection, on which the attempt begins; None where it is lost already."""
        if transport is None:
            return None
        wire = transport.get_protocol()
        if not isinstance(wire, Connection):
            wire = Connection(transport, cast(asyncio.Protocol, wire), self._idle, attempt)
            transport.set_protocol(wire)
        wire.begin(attempt)
        return wire

    def _new_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Raises NotAllowed. Every way to a connection comes through here, also an address written in the URL."""
        family, kind, protocol, _, address = info
        attempt = ATTEMPT.get()
        attempt.is_dialled = True
        attempt.phase = Phase.CONNECTION
        objection = self._guard.objection(address[0], attempt.scheme, address[1])
        if objection and not self._has_proxy:
            raise NotAllowed(objection)
        return socket.socket(family, kind, protocol)


def _has_spoken(connection: "aiohttp.connector.Connection") -> bool:
    """Whether a kept connection has said what nobody asked for."""
    return connection.protocol is None or connection.protocol.should_close


class _GuardedResolver(AbstractResolver):
    """A name that has one forbidden address is forbidden: a mixture is how a wall is tried."""

    def __init__(self, guard: Guard, resolver: DnsResolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Raises NotAllowed, OSError or UnicodeError."""
        attempt = ATTEMPT.get()
        addresses = await self._resolver.addresses(host, attempt.party)
        for address in addresses:
            objection = self._guard.objection(address, attempt.scheme, port)
            if objection:
                raise NotAllowed(f"Of the addresses of {host}, {objection}")
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        pass


class _ProxyResolver(AbstractResolver):
    """Looks up the proxy, which the settings name."""

    def __init__(self, resolver: DnsResolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Raises ProxyUnknown, and LookupFailed."""
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
