"""HTTP requests for measurements, over persistent connections.

Each connection sends the next request after a complete answer.
"""

import asyncio
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.processes import HOST, Failed

LENGTH: Final = b"\r\ncontent-length:"
PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `answered` has the expected status codes."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] | None = None
    answered: tuple[int, ...] = (200, 201)

    def as_bytes(self, headers: Mapping[str, str]) -> bytes:
        sent = {"Host": HOST, **headers, **(self.headers or {})}
        if self.body:
            sent |= {"Content-Type": "application/json", "Content-Length": str(len(self.body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        return f"{self.method} {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + self.body


def exchange(
    port: int,
    requests: Iterator[Request],
    headers: Mapping[str, str],
    connections: int,
    number: int,
    over_tls: bool = False,
) -> list[float]:
    """Send `number` requests over the connections, and return the duration of each in seconds.

    Raise Failed if an answer has an unexpected status.
    """
    return asyncio.run(_exchange(port, requests, headers, connections, number, over_tls))


async def _exchange(
    port: int, requests: Iterator[Request], headers: Mapping[str, str], connections: int, number: int, tls: bool
) -> list[float]:
    left, seconds = iter(range(number)), list[float]()

    async def over_one() -> None:
        reader, writer = await asyncio.open_connection(HOST, port, ssl=_unchecked() if tls else None)
        try:
            for _ in left:
                request = next(requests)
                began = time.perf_counter()
                writer.write(request.as_bytes(headers))
                status, body = await _answer(reader)
                seconds.append(time.perf_counter() - began)
                if status not in request.answered:
                    raise Failed(f"{request.method} {request.path} was answered {status}: {body[:300]!r}")
        finally:
            writer.close()

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(over_one() for _ in range(connections)))
    return seconds


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    _, found, rest = head.lower().partition(LENGTH)
    body = await reader.readexactly(int(rest.partition(b"\r\n")[0])) if found else b""
    return int(head[9:12]), body


def _unchecked() -> ssl.SSLContext:
    """Return a TLS context that accepts the server's self-signed certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
