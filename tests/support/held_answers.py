"""Answers that are paused half-way: a client on a raw socket has read the head, and reads no more for now."""

import re
import select
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

LEAST_BYTES = 4096
"""The size of the client's buffer in bytes, so small that the server must wait for the client."""
A_MOMENT = 0.05
"""If nothing arrives for so many seconds, the server has sent everything that it can send for now."""
STATUS_LINE = b"HTTP/1."
END_OF_HEAD = b"\r\n\r\n"
CHUNK_SIZE = re.compile(rb"([0-9a-f]+)\r\n")


@dataclass(frozen=True)
class Came:
    """All bytes that arrived on a connection, and its end: `closed`, `reset`, or still `open`."""

    raw: bytes
    end: str

    @property
    def answers(self) -> int:
        return self.raw.count(STATUS_LINE)

    @property
    def is_whole(self) -> bool:
        """True if the answer is complete, as a client judges it (RFC 9112, section 8)."""
        head, _, body = self.raw.partition(END_OF_HEAD)
        if b"\r\nTransfer-Encoding: chunked" in head:
            return _ends_as_chunks(body)
        if found := re.search(rb"\r\nContent-Length: (\d+)", head):
            return len(body) == int(found[1])
        return self.end == "closed"


def _ends_as_chunks(body: bytes) -> bool:
    at = 0
    while size := CHUNK_SIZE.match(body, at):
        length = int(size[1], 16)
        at = size.end() + length + 2
        if length == 0:
            return at == len(body)
    return False


class HeldAnswer:
    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self._came = b""

    def begin(self, request: bytes) -> None:
        """Send the request and read the head of the answer."""
        self._client.sendall(request)
        while END_OF_HEAD not in self._came:
            more = self._client.recv(1)
            assert more, self._came
            self._came += more

    @property
    def head(self) -> bytes:
        return self._came.partition(END_OF_HEAD)[0]

    def rest(self, seconds: float) -> Came:
        """Read until the connection ends, the answer is complete, or nothing arrives for `seconds` seconds."""
        until = time.monotonic() + seconds
        while True:
            if select.select([self._client], [], [], A_MOMENT)[0]:
                until = time.monotonic() + seconds
                try:
                    more = self._client.recv(1_000_000)
                except ConnectionResetError:
                    return Came(self._came, "reset")
                if not more:
                    return Came(self._came, "closed")
                self._came += more
            elif Came(self._came, "open").is_whole or time.monotonic() > until:
                return Came(self._came, "open")

    def ask_again(self, request: bytes) -> Came:
        """Send another request on the same connection. The answer before it must be complete."""
        self._came = b""
        self.begin(request)
        return self.rest(10)


@contextmanager
def connected(port: int) -> Iterator[HeldAnswer]:
    with closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LEAST_BYTES)
        client.settimeout(20)
        client.connect(("127.0.0.1", port))
        yield HeldAnswer(client)
