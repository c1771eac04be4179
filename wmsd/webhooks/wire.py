"""aiohttp's connections with a guard where the socket is made: what is judged is what is dialled."""

import socket
from collections.abc import Mapping
from contextvars import ContextVar
from enum import Enum
from typing import Any, Final

from multidict import CIMultiDict

from wmsd.base.certificates import left_unread
from wmsd.webhooks.dns_resolver import DnsResolver
from wmsd.webhooks.guard import Guard

with left_unread():
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult
    from aiohttp.client_proto import ResponseHandler

WANTED_BYTES: Final = 2048
"""Of a body."""
MOST_BYTES: Final = 65_536
"""Of one answer, head and framing included. An honest one of which 2 kB are wanted needs fewer."""
KEEP_SECONDS: Final = 2.0
MOST_KEPT: Final = 128
"""Idle connections. A tenant may have as many hosts as it likes."""


class Phase(Enum):
    """What an attempt waits for."""

    NAME = "the address of the host"
    CONNECTION = "a connection"
    TLS = "the TLS handshake"
    ANSWER = "an answer"
    BODY = "the rest of the answer"


class NotAllowed(OSError):
    """The guard's objection: for the log. What a name leads to is no business of who wrote the name."""


class Attempt:
    """The headers of one request, how far it has come, and what is known of its answer."""

    def __init__(self, scheme: str, host: str, port: int, sent: Mapping[str, str], party: int) -> None:
        self.scheme = scheme
        self.host = host
        self.port = port
        self.sent = sent
        self.party = party
        self.phase = Phase.NAME
        self.is_dialled = False
        self.wire: Wire | None = None
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.body = bytearray()
        self.is_whole = False

    @property
    def is_cut(self) -> bool:
        """Whether there is more of the body than was wanted: one byte is read to see it."""
        if self.status is None or self.is_whole:
            return False
        return len(self.body) > WANTED_BYTES or (self.wire is not None and self.wire.is_flooded)

    @property
    def may_be_stale(self) -> bool:
        """Whether it failed because the connection that it was given had been closed by the receiver before."""
        return self.wire is not None and not self.is_dialled and not self.wire.received


ATTEMPT: ContextVar[Attempt] = ContextVar("attempt")


class Wire(ResponseHandler):
    """A connection that a receiver cannot flood: neither with heads without an end, nor while nothing is asked."""

    received = 0
    is_idle = False
    attempt: Attempt | None = None
    """The last that began."""

    def begin(self, attempt: Attempt) -> None:
        self.received = 0
        self.is_idle = False
        self.attempt = attempt

    def end(self, attempt: Attempt) -> None:
        """Another may have begun already: aiohttp hands a connection on before who has read from it goes on."""
        if self.attempt is attempt:
            self.is_idle = True

    @property
    def is_flooded(self) -> bool:
        return self.received > MOST_BYTES

    def data_received(self, data: bytes) -> None:
        room = MOST_BYTES - self.received
        self.received += len(data)
        if self.is_idle or room <= 0:
            self._cut()
            return
        super().data_received(data if len(data) <= room else data[:room])
        if self.is_flooded:
            self._cut()

    def close(self) -> None:
        """At once: TLS's farewell would wait half a minute for a receiver that says none."""
        self.abort()

    def _cut(self) -> None:
        """As if the receiver had: whoever reads is told."""
        if self.transport is not None:
            self.transport.abort()


class Request(aiohttp.ClientRequest):
    """Sends the headers of `ATTEMPT` and no others, but those without which nothing could be sent or read.

    What aiohttp does instead, one header at a time and twice, would be a tenth of what a request costs.
    """

    def update_headers(self, headers: Any) -> None:
        self.headers = CIMultiDict(
            {"Host": self.url.host_port_subcomponent or "", "Accept": "*/*", "Accept-Encoding": "identity"}
        )
        for name, value in ATTEMPT.get().sent.items():
            self.headers[name] = value  # of two that differ in case the later: the delivery's own

    def update_auto_headers(self, skip_auto_headers: Any) -> None:
        pass


class Connector(aiohttp.TCPConnector):
    """Has no limit: the sender counts. `ATTEMPT` is who dials."""

    def __init__(self, guard: Guard, resolver: DnsResolver, **options: Any) -> None:
        super().__init__(
            resolver=_GuardedResolver(guard, resolver),
            use_dns_cache=False,
            socket_factory=self._new_socket,
            limit=0,
            **options,
        )
        self._guard = guard
        self._factory = self._new_wire  # type: ignore[assignment]  # it is only called

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        """A few idle connections are kept, to whoever: each is an open file."""
        is_full = sum(map(len, self._conns.values())) >= MOST_KEPT
        super()._release(key, protocol, should_close=should_close or is_full)

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: Any,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # aiohttp's name
    ) -> "aiohttp.connector.Connection":
        attempt = ATTEMPT.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            wire = connection.protocol
            assert isinstance(wire, Wire)
            if attempt.is_dialled or not wire.should_close:
                break
            connection.close()  # it has spoken unasked
        wire.begin(attempt)
        attempt.wire = wire
        attempt.phase = Phase.ANSWER
        return connection

    def _new_wire(self) -> Wire:
        """Called when a socket is connected, before TLS."""
        attempt = ATTEMPT.get()
        if attempt.scheme == "https":
            attempt.phase = Phase.TLS
        return Wire(self._loop)

    def _new_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Raises NotAllowed. Every way to a connection comes through here, also an address written in the URL."""
        family, kind, protocol, _, address = info
        attempt = ATTEMPT.get()
        attempt.is_dialled = True
        attempt.phase = Phase.CONNECTION
        objection = self._guard.objection(address[0], attempt.scheme, address[1])
        if objection:
            raise NotAllowed(objection)
        return socket.socket(family, kind, protocol)


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


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return {"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}
