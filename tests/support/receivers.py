"""Receivers of webhooks that record requests and answer as the test says, well or badly.

`Receiver` runs in the event loop of the test. Run as a script, this file is a process that offers the same answers
by path, over HTTP and several kinds of TLS: `open_receivers`.
"""

import asyncio
import base64
import gzip
import json
import socket
import ssl
import struct
import subprocess
import sys
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.authority import Authority

RESET_WHEN_CLOSED = struct.pack("ii", 1, 0)
LONG = 60.0
ANY_PORT = ["1-65535"]
"""The value of the setting webhooks.allow_ports. All ports are allowed, because receivers use any free port."""
FLOOD_BYTES = 100_000_000
DRIP_SECONDS = 0.05


@dataclass(frozen=True)
class Received:
    """A received request. `connection` counts the connections of the receiver from 1."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "body": base64.b64encode(self.body).decode()}


Manner = Callable[[asyncio.StreamWriter, Received], Awaitable[bool]]
"""A way to answer one request. The result is True if the connection stays open."""


def answer(
    status: int = 200, body: bytes = b"ok", headers: dict[str, str] | None = None, delay: float = 0
) -> Manner:
    """Return a manner that answers normally. `headers` are added to Content-Length."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"HTTP/1.1 {status} Said\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode()

    async def say(writer: asyncio.StreamWriter, received: Received) -> bool:
        await asyncio.sleep(delay)
        writer.write(head + body)
        return "close" not in received.headers.get("connection", "")

    return say


def raw(*parts: bytes, closes: bool = True) -> Manner:
    """Return a manner that sends exactly these bytes."""

    async def say(writer: asyncio.StreamWriter, received: Received) -> bool:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return not closes

    return say


def endless(head: bytes, part: bytes, pause: float = 0.0, most: int = FLOOD_BYTES) -> Manner:
    """Return a manner that sends `part` again and again, as long as the client accepts it, up to `most` bytes."""

    async def say(writer: asyncio.StreamWriter, received: Received) -> bool:
        writer.write(head)
        for _ in range(most // len(part)):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        return False

    return say


async def hang(writer: asyncio.StreamWriter, received: Received) -> bool:
    await asyncio.sleep(LONG)
    return False


async def reset(writer: asyncio.StreamWriter, received: Received) -> bool:
    """Reset the connection in the middle of the answer."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
    await writer.drain()
    await asyncio.sleep(DRIP_SECONDS)
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_WHEN_CLOSED)
    writer.transport.abort()
    return False


async def redirect(writer: asyncio.StreamWriter, received: Received) -> bool:
    """Redirect to the URL after the question mark."""
    status, _, target = received.path.partition("?")
    return await answer(int(status[1:]), headers={"Location": target})(writer, received)


OK = b"HTTP/1.1 200 OK\r\n"
BIG = OK + b"Content-Length: %d\r\n" % FLOOD_BYTES
BOMB = gzip.compress(bytes(10_000_000), 1)
MANNERS: dict[str, Manner] = {
    "/200": answer(),
    "/204": raw(b"HTTP/1.1 204 No Content\r\n\r\n", closes=False),
    "/204-body": raw(b"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\nno, a body", closes=False),
    "/204-answer": raw(
        b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", closes=False
    ),
    "/400": answer(400, b"no"),
    "/410": answer(410, b"gone"),
    "/500": answer(500, b"broken"),
    **{f"/{status}": redirect for status in (301, 302, 303, 307, 308)},
    "/whole": answer(body=b"w" * 2048),
    "/longer": answer(body=b"l" * 2049),
    "/cookie": answer(headers={"Set-Cookie": "a=b"}),
    "/hang": hang,
    "/reset": reset,
    "/hang-up": raw(),
    "/half": raw(OK + b"Content-Length: 100\r\n\r\nhalf"),
    "/flood": endless(BIG + b"\r\n", b"x" * 65_536),
    "/flood-500": endless(BIG.replace(b"200 OK", b"500 No") + b"\r\n", b"x" * 65_536),
    "/flood-chunks": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 4_000),
    "/chunks": raw(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", closes=False),
    "/until-close": raw(OK + b"\r\nall there is"),
    "/bomb": answer(body=BOMB, headers={"Content-Encoding": "gzip"}),
    "/bad-gzip": answer(body=b"not gzip", headers={"Content-Encoding": "gzip"}),
    "/drip": endless(BIG + b"\r\n", b"x", DRIP_SECONDS),
    "/drip-head": endless(OK, b"X-A: b\r\n", DRIP_SECONDS),
    "/endless-headers": endless(OK, b"X-A: b\r\n" * 1_000),
    "/endless-header": endless(OK + b"X-A: ", b"x" * 65_536),
    "/endless-line": endless(b"HTTP/1.1 200 ", b"x" * 65_536),
    "/endless-100": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000),
    "/endless-103": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" * 1_000),
    "/endless-answers": endless(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" * 1_000),
    "/long-header": answer(headers={"X-Trace": "t" * 9_000}),
    "/many-headers": answer(headers={f"X-{number}": "v" for number in range(200)}),
    "/garbage": raw(b"\x00\xff\x00 this is not HTTP\r\n\r\n"),
    "/ssh": raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "/bad-length": raw(OK + b"Content-Length: minus\r\n\r\nx"),
    "/two-lengths": raw(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
    "/bad-chunk": raw(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx"),
    "/switch": raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + b"x" * 9000),
    "/status-999": raw(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
    "/latin": raw(OK + b"X-N\xe4me: \xff\xfe\r\nContent-Length: 0\r\n\r\n"),
}


@dataclass
class Receiver:
    """A receiver, used with `async with`.

    The next entry of `script` answers each request. When `script` is empty, the manner that belongs to the path
    answers, or 200 if there is no such manner.
    """

    script: list[Manner] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def listen(self) -> int:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._servers: list[asyncio.Server] = []
        self.port = await self.listen_at(self.host, 0)
        return self.port

    async def listen_at(self, host: str, port: int) -> int:
        server = await asyncio.start_server(self._serve, host, port, ssl=self.tls, backlog=1000)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/200", host: str | None = None) -> str:
        return f"{'https' if self.tls else 'http'}://{host or self.host}:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        with suppress(OSError, EOFError, asyncio.CancelledError, asyncio.LimitOverrunError):
            while received := await read_request(reader, number):
                self.received.append(received)
                if not await self._manner(received)(writer, received):
                    break
                await writer.drain()
        self._tasks.discard(task)
        writer.close()

    def _manner(self, received: Received) -> Manner:
        if self.script:
            return self.script.pop(0)
        return MANNERS.get(received.path.partition("?")[0], MANNERS["/200"])


async def read_request(reader: asyncio.StreamReader, connection: int) -> Received:
    """Read a request. Raise EOFError if there is no other. A header that is sent twice has both values."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    lines = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in head[1:-2])]
    headers = {name: ", ".join(value for other, value in lines if other == name) for name, _ in lines}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, body, connection)


@dataclass(frozen=True)
class Receivers:
    """The process of the receivers.

    The kinds of receivers are http, the TLS kinds good, expired, elsewhere and stranger, and the kinds in
    `BLURTS`.
    """

    ports: dict[str, int]

    def url(self, path: str, kind: str = "http", host: str = "127.0.0.1") -> str:
        return f"{'http' if kind == 'http' else 'https'}://{host}:{self.ports[kind]}{path}"

    def recorded(self) -> list[dict[str, Any]]:
        """Return everything recorded so far, as `Received.as_json`."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports['control']}/") as recorded:
            found: list[dict[str, Any]] = json.load(recorded)
        return found


@contextmanager
def open_receivers(authority: Authority) -> Iterator[Receivers]:
    command = [sys.executable, __file__, str(authority.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield Receivers(json.loads(process.stdout.readline()))
        finally:
            process.kill()


BLURTS = {
    "old": b"\x15\x03\x01\x00\x02\x02\x46",  # the alert of a server that knows no newer TLS
    "plain": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "failing": b"\x15\x03\x01\x00\x02\x02\x28",  # the alert for a handshake that failed
}
"""The bytes that each kind sends, whatever it receives."""


async def blurt(kind: str) -> int:
    """Start a receiver of this kind in `BLURTS`, and return its port."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(BLURTS[kind])
        await writer.drain()
        await reader.read(100_000)
        writer.close()

    server = await asyncio.start_server(say, "127.0.0.1", 0)
    return int(server.sockets[0].getsockname()[1])


async def serve(authority: Authority) -> None:
    """Serve until standard input ends, so never longer than the tests run."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: None)
    contexts: dict[str, ssl.SSLContext | None] = {
        "http": None,
        **{kind: authority.server_context(kind) for kind in ("good", "expired", "elsewhere", "stranger")},
    }
    receivers = {kind: Receiver(tls=context) for kind, context in contexts.items()}
    ports = {kind: await receiver.listen() for kind, receiver in receivers.items()}
    ports |= {kind: await blurt(kind) for kind in BLURTS}
    control = Receiver()

    async def tell(writer: asyncio.StreamWriter, received: Received) -> bool:
        control.script.append(tell)
        everything = [one.as_json for receiver in receivers.values() for one in receiver.received]
        return await answer(body=json.dumps(everything).encode())(writer, received)

    control.script.append(tell)
    print(json.dumps({**ports, "control": await control.listen()}), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(Authority(Path(sys.argv[1]))))
