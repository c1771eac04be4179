"""The scene of an attack: the server, the attackers, their addresses, and how fast the default limits let them
work.
"""

import asyncio
import itertools
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

PATIENCE: Final = 60.0
Opened = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Tenant:
    """A tenant with its company and its token."""

    company: int
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-Company-Id": str(self.company)}


@dataclass
class Scene:
    """The scene of an attack.

    `until` is a time of `time.monotonic`. `answers` counts the server's answers by attack and status.
    """

    port: int
    until: float
    addresses: tuple[str, ...]
    tenants: tuple[Tenant, ...]
    victim: str
    """The e-mail address of an honest user."""
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, min(seconds, self.until - time.monotonic())))

    @asynccontextmanager
    async def connected(self, address: str) -> AsyncIterator[Opened]:
        """Connect to the server from a loopback address. Raise OSError if that fails."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))
        try:
            yield reader, writer
        finally:
            writer.close()

    async def ask(
        self,
        attack: str,
        address: str,
        method: str,
        path: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        is_read: bool = True,
    ) -> bytes:
        """Send a request over a new connection and return the body of the answer.

        Every result is counted, also failures.
        """
        try:
            async with asyncio.timeout(PATIENCE), self.connected(address) as (reader, writer):
                writer.write(request(method, path, body, headers))
                await writer.drain()
                head = await reader.readuntil(b"\r\n\r\n")
                self.answers[attack, head[9:12].decode()] += 1
                return await reader.read() if is_read else b""
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError) as error:
            self.answers[attack, type(error).__name__] += 1
            return b""


def request(method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    sent = {"Host": "x", "Connection": "close", **(headers or {})}
    if body:
        sent = {"Content-Type": "application/json", "Content-Length": str(len(body)), **sent}
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def as_json(document: Any) -> bytes:
    return json.dumps(document).encode()


Stranger = Callable[[Scene, str, Iterator[int]], Awaitable[None]]
"""One round of an attack from an address. The iterator counts the rounds of the address."""
Insider = Callable[[Scene, str, Tenant, Iterator[int]], Awaitable[None]]


async def from_addresses(scene: Scene, attack: Stranger, per_minute: float) -> None:
    """Attack from each address as often as it may, but not from all addresses at the same moment."""

    async def from_one(place: int, address: str) -> None:
        every = 60.0 / per_minute
        await scene.pause(every * place / len(scene.addresses))
        rounds = itertools.count()
        while not scene.is_over:
            began = time.monotonic()
            with suppress(OSError, EOFError, TimeoutError):
                await attack(scene, address, rounds)
            await scene.pause(every - (time.monotonic() - began))

    await asyncio.gather(*(from_one(*each) for each in enumerate(scene.addresses)))


async def from_tenant(scene: Scene, attack: Insider, per_minute: float, place: int) -> None:
    """Attack as one tenant as often as the tenant may, without waiting for answers."""
    tenant, address = scene.tenants[place], scene.addresses[place]
    rounds = itertools.count()
    running: set[asyncio.Task[None]] = set()
    while not scene.is_over:
        task = asyncio.create_task(_quietly(attack(scene, address, tenant, rounds)))
        running.add(task)
        task.add_done_callback(running.discard)
        await scene.pause(60.0 / per_minute)
    for each in list(running):
        each.cancel()


async def _quietly(work: Awaitable[None]) -> None:
    with suppress(OSError, EOFError, TimeoutError):
        await work
