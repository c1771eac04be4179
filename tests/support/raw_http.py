"""HTTP by hand, over connections that can be opened beforehand, retained, and cut at any byte."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

PATIENCE = 60.0
RESET_WHEN_CLOSED = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    head: bytes
    body: bytes

    @property
    def whole(self) -> bytes:
        return self.head + self.body


@dataclass(frozen=True)
class Answer:
    status: int
    head: bytes
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def is_replayed(self) -> bool:
        return b"\r\nidempotent-replayed: true" in self.head.lower()


def without_replays(raw: bytes) -> bytes:
    """Return the body of a replayed answer as it was the first time.

    In a batch, remove from each slot the mark that says that the slot was replayed.
    """
    return raw.replace(b',"Idempotent-Replayed":"true"', b"")


@dataclass(frozen=True)
class Caller:
    """A client of a server on loopback: its token and its company."""

    port: int
    token: str
    company: int = 1

    def post(self, path: str, body: Any, key: str | None = None, padding: bytes = b"") -> Request:
        return self.request("POST", path, body, key, padding)

    def request(self, method: str, path: str, body: Any, key: str | None = None, padding: bytes = b"") -> Request:
        content = json.dumps(body).encode() + padding
        headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "X-Company-Id": str(self.company),
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
        }
        if key is not None:
            headers["Idempotency-Key"] = key
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return Request(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode(), content)

    async def connect(self) -> "Connection":
        return Connection(*await asyncio.open_connection("127.0.0.1", self.port))

    @asynccontextmanager
    async def connections(self, number: int) -> AsyncIterator[list["Connection"]]:
        """Open several connections, one after another.

        Opened together, they would wait in the listener's queue.
        """
        opened: list[Connection] = []
        try:
            while len(opened) < number:
                opened.append(await self.connect())
            yield opened
        finally:
            for connection in opened:
                await connection.close()

    async def ask(self, request: Request) -> Answer:
        """Send a request over a new connection and return the answer."""
        async with self.connections(1) as (connection,):
            return await connection.ask(request)


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, request: Request) -> Answer:
        """Send a request and return the answer.

        Raise OSError or EOFError if the server closes the connection first.
        """
        await self.send(request.whole)
        return await self.answer()

    async def answer(self) -> Answer:
        """Read an answer. Raise the same errors as `ask`."""
        async with asyncio.timeout(PATIENCE):
            head = await self.head()
            _, _, rest = head.lower().partition(b"\r\ncontent-length: ")
            raw = await self._reader.readexactly(int(rest.partition(b"\r\n")[0]))
        return Answer(int(head[9:12]), head, raw)

    async def send(self, part: bytes) -> None:
        self._writer.write(part)
        await self._writer.drain()

    async def begin_to_read(self) -> int:
        """Read and return the status. The rest of the answer stays unread."""
        async with asyncio.timeout(PATIENCE):
            return int((await self._reader.readexactly(12))[9:])

    async def head(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self._reader.readuntil(b"\r\n\r\n")

    async def rest(self) -> bytes:
        """Read everything until the server closes the connection."""
        async with asyncio.timeout(PATIENCE):
            return await self._reader.read()

    def finish(self) -> None:
        """Tell the server that nothing more will be sent. The answer can still be read."""
        self._writer.write_eof()

    async def close(self, reset: bool = False) -> None:
        """Close the connection. If `reset`, close it without a proper end, as when a client crashes."""
        if reset:
            self._writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, RESET_WHEN_CLOSED
            )
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
