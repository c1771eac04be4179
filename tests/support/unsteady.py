"""Receivers of webhooks that answer at random, and record each request and how they judged it."""

import asyncio
import base64
import hashlib
import hmac
import socket
import struct
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Final

HOST: Final = "127.0.0.1"
FAILURES: Final = 0.3
BRIEFLY: Final = 0.04
"""The longest time for which a receiver that hangs lets the client wait, in seconds."""
RESET_WHEN_CLOSED: Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a receiver: it sends `raw`, and then keeps, closes or resets the connection, as `end` says."""

    raw: bytes
    is_success: bool = False
    end: str = "keep"
    hangs: bool = False


def _said(status: str, *headers: str, body: bytes = b"") -> bytes:
    lines = "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"))
    return f"{lines}\r\n".encode() + body


OK: Final = Reply(_said("200 OK", body=b"thanks"), True)
SUCCESSES: Final = (
    *(OK,) * 6,
    Reply(_said("202 Accepted"), True),
    Reply(b"HTTP/1.1 204 No Content\r\n\r\n", True),
    Reply(_said("201 Created", "Connection: close"), True, end="close"),
    Reply(_said("200 OK", body=b"x" * 5000), True),
    Reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", True),
    Reply(_said("200 OK"), True, hangs=True),
)
FAILING: Final = (
    *(Reply(_said("500 Internal Server Error", body=b"oh no")),) * 3,
    *(Reply(_said("503 Service Unavailable", "Retry-After: 1")),) * 3,
    Reply(_said("302 Found", "Location: /elsewhere")),
    Reply(_said("404 Not Found"), end="close"),
    Reply(_said("500 Internal Server Error"), hangs=True),
    Reply(_said("200 OK", body=b"y" * 500)[:-200], end="reset"),
    Reply(_said("200 OK", body=b"y" * 500)[:-200], end="close"),
    Reply(b"", end="reset", hangs=True),
    Reply(b"", end="close"),
    Reply(b"certainly\r\n\r\n", end="close"),
)


@dataclass(slots=True)
class Received:
    """A request.

    `life` is the number of the server that sent it, from 0. `seconds` is the time in its header, since 1970. `at`
    is the time of `time.monotonic` when it came.
    """

    event_id: str
    event: str
    attempt: int
    sequence: int
    seconds: int
    digest: bytes
    flaws: str
    life: int
    at: float
    is_answered: bool
    success: int = 0
    """The number of this request among those that the receiver answered with success, from 1. The number is 0 if
    no complete 2xx answer was sent.
    """


@dataclass(slots=True)
class Life:
    """The server that is running now. `number` says how many servers ran before it."""

    number: int = 0


@dataclass(slots=True)
class Receiver:
    """A subscriber. If `is_calm`, it answers everything with 200."""

    name: str
    secret: str
    chance: Random
    life: Life
    is_calm: bool = False
    received: list[Received] = field(default_factory=list)
    port: int = 0
    _successes: int = 0
    _listener: asyncio.Server | None = None
    _open: set[asyncio.Transport] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/{self.name}"

    async def listen(self) -> None:
        """Listen at the same port as before, if there was one."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: _Conversation(self), HOST, self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def leave(self) -> None:
        """Refuse connections from now on, like a machine that is off."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
            for transport in tuple(self._open):
                transport.abort()
            await asyncio.sleep(0)

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[Received, Reply]:
        reply = self._reply()
        received = Received(
            event_id=headers.get("x-webhook-id", ""),
            event=headers.get("x-webhook-event", ""),
            attempt=int(headers.get("x-webhook-attempt", 0)),
            sequence=int(headers.get("x-webhook-sequence", 0)),
            seconds=int(headers.get("webhook-timestamp", 0)),
            digest=hashlib.sha256(body).digest(),
            flaws=", ".join(self._flaws(path, headers, body)),
            life=self.life.number,
            at=time.monotonic(),
            is_answered=bool(reply.raw),
        )
        self.received.append(received)
        return received, reply

    def succeeded(self, received: Received) -> None:
        self._successes += 1
        received.success = self._successes

    def _reply(self) -> Reply:
        if self.is_calm:
            return OK
        return self.chance.choice(FAILING if self.chance.random() < FAILURES else SUCCESSES)

    def _flaws(self, path: str, headers: dict[str, str], body: bytes) -> list[str]:
        """Return the faults of the request itself.

        Signatures are computed here as the manual for receivers says.
        """
        flaws = []
        if path != f"/{self.name}":
            flaws.append(f"it came to {path}")
        if headers.get("webhook-id") != headers.get("x-webhook-id"):
            flaws.append("it has two ids")
        own = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        if headers.get("x-webhook-signature") != f"sha256={own}":
            flaws.append("its signature is wrong")
        signed = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}.".encode() + body
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        standard = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if headers.get("webhook-signature") != f"v1,{standard}":
            flaws.append("its standard signature is wrong")
        return flaws


class _Conversation(asyncio.Protocol):
    """A connection of a client that sends one request after another. Each request gets a reply."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._receiver._open.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._receiver._open.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if len(body) < int(headers.get("content-length", 0)):
            return
        self._buffer = b""
        received, reply = self._receiver.take(first.split(" ")[1], headers, body)
        if reply.hangs:
            wait = self._receiver.chance.uniform(0, BRIEFLY)
            asyncio.get_running_loop().call_later(wait, self._answer, received, reply)
        else:
            self._answer(received, reply)

    def _answer(self, received: Received, reply: Reply) -> None:
        if self._transport.is_closing():
            return  # the caller has gone
        self._transport.write(reply.raw)
        if reply.is_success:
            self._receiver.succeeded(received)
        if reply.end == "reset":
            self._transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, RESET_WHEN_CLOSED
            )
        if reply.end != "keep":
            self._transport.close()


def new_secret(name: str) -> str:
    return "whsec_" + base64.b64encode(hashlib.sha256(name.encode()).digest()).decode()


@asynccontextmanager
async def listening(names: Sequence[str], seed: int) -> AsyncIterator[tuple[dict[str, Receiver], Life]]:
    """Start a receiver for each name."""
    life = Life()
    receivers = {name: Receiver(name, new_secret(name), Random(f"{seed} {name}"), life) for name in names}
    try:
        for receiver in receivers.values():
            await receiver.listen()
        yield receivers, life
    finally:
        for receiver in receivers.values():
            await receiver.leave()
