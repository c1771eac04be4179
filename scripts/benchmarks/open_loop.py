"""Requests of many companies at a fixed rate, regardless of the answers.

Latency counts from the moment at which each request was due, so a slow server cannot hide its delay.

    python -m benchmarks.open_loop PORT COMPANIES RATE SECONDS SEED CONNECTIONS ARTICLES PARTNERS

COMPANIES is a JSON file of ids and tokens. With rate 0 it is a closed loop: each connection posts an order after
the answer to its last one. The result is printed as JSON.
"""

import asyncio
import json
import random
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop

from benchmarks.processes import HOST

TICK_SECONDS: Final = 0.001
WAIT_SECONDS: Final = 30.0
"""The longest wait for missing answers at the end, in seconds."""
MIX: Final = (
    (0.30, "one article"),
    (0.15, "50 articles"),
    (0.15, "50 of stock"),
    (0.10, "orders"),
    (0.10, "sync"),
    (0.20, "new order"),
)
KINDS: Final = [name for _, name in MIX]
SHARES: Final = [share for share, _ in MIX]


@dataclass(slots=True)
class Seen:
    """Latencies in seconds by kind of request, and the number of answers by status for every status but 2xx."""

    latencies: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    wrong: dict[int, int] = field(default_factory=dict)
    first_wrong: str = ""

    def note(self, kind: str, seconds: float, status: int, answer: bytes) -> None:
        self.latencies[kind].append(seconds)
        if not 200 <= status < 300:
            self.wrong[status] = self.wrong.get(status, 0) + 1
            self.first_wrong = self.first_wrong or answer.decode(errors="replace")[:1000]


class Requests:
    """A generator of the companies' requests, as bytes."""

    def __init__(self, companies: list[tuple[int, str]], seed: int, articles: int, partners: int) -> None:
        self._articles = articles
        self._partners = partners
        self._random = random.Random(seed)
        self._prefix = f"{seed}-{time.time_ns()}"
        self._number = 0
        self._heads = [
            f"Host: x\r\nAuthorization: Bearer {token}\r\nX-Company-Id: {company_id}\r\n".encode()
            for company_id, token in companies
        ]

    def mixed(self) -> tuple[str, bytes]:
        (kind,) = self._random.choices(KINDS, SHARES)
        return kind, self.of(kind)

    def of(self, kind: str) -> bytes:
        choose, head = self._random, self._random.choice(self._heads)
        if kind == "new order":
            return self._order(head)
        path = {
            "one article": f"/api/articles/{choose.randint(1, self._articles)}",
            "50 articles": f"/api/articles?per_page=50&page={choose.randint(1, self._articles // 50)}",
            "50 of stock": f"/api/stock?per_page=50&page={choose.randint(1, self._articles // 50)}",
            "orders": f"/api/sales-orders?per_page=20&partner_id={choose.randint(1, self._partners)}",
            "sync": "/api/articles/sync?per_page=50&updated_since=2026-01-01T00:00:00Z",
        }[kind]
        return f"GET {path} HTTP/1.1\r\n".encode() + head + b"\r\n"

    def _order(self, head: bytes) -> bytes:
        first = self._random.randint(1, self._articles - 2)
        lines = [{"article_id": first + place, "quantity": place + 1} for place in range(3)]
        partner = self._random.randint(1, self._partners)
        body = json.dumps({"partner_id": partner, "warehouse_id": 1, "lines": lines}).encode()
        self._number += 1
        own = f"Idempotency-Key: {self._prefix}-{self._number}\r\nContent-Length: {len(body)}\r\n"
        kind = "Content-Type: application/json\r\n\r\n"
        return b"POST /api/v2/sales-orders HTTP/1.1\r\n" + head + (own + kind).encode() + body


class Connection(asyncio.Protocol):
    """A connection that sends one request after another, and tells the driver when it is free."""

    def __init__(self, driver: "Driver") -> None:
        self._driver = driver
        self._transport: Any = None
        self._received = b""
        self._kind = ""
        self._due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._driver.is_free(self)

    def send(self, kind: str, due: float, request: bytes) -> None:
        self._kind, self._due = kind, due
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        if end < 0:
            return
        at = received.find(b"Content-Length: ", 0, end)
        length = int(received[at + 16 : received.find(b"\r\n", at)])
        if len(received) < end + 4 + length:
            return
        self._received = b""
        self._driver.seen.note(self._kind, time.monotonic() - self._due, int(received[9:12]), received)
        self._driver.under_way -= 1
        self._driver.is_free(self)

    def connection_lost(self, _: Exception | None) -> None:
        self._driver.lost += 1


class Driver:
    def __init__(self, requests: Requests) -> None:
        self.seen = Seen()
        self.under_way = 0
        self.lost = 0
        self._requests = requests
        self._free: deque[Connection] = deque()
        self._due: deque[tuple[str, float, bytes]] = deque()
        self._orders_until = 0.0

    def is_free(self, connection: Connection) -> None:
        if self._due:
            connection.send(*self._due.popleft())
        elif time.monotonic() < self._orders_until:
            self.under_way += 1
            connection.send("new order", time.monotonic(), self._requests.of("new order"))
        else:
            self._free.append(connection)

    def request(self, due: float) -> None:
        kind, text = self._requests.mixed()
        self.under_way += 1
        if self._free:
            self._free.popleft().send(kind, due, text)
        else:
            self._due.append((kind, due, text))

    async def at_rate(self, rate: float, seconds: float) -> int:
        """Send requests at the rate, and return how many were due."""
        began, number = time.monotonic(), 0
        while (now := time.monotonic()) < began + seconds:
            while (due := began + number / rate) <= now and due < began + seconds:
                self.request(due)
                number += 1
            await asyncio.sleep(TICK_SECONDS)
        return number

    async def in_turn(self, seconds: float) -> int:
        """Post orders over all connections, and return the number of answered orders."""
        self._orders_until = time.monotonic() + seconds
        waiting, self._free = self._free, deque()
        for connection in waiting:
            self.is_free(connection)
        await asyncio.sleep(seconds)
        return sum(map(len, self.seen.latencies.values()))

    async def finish(self) -> None:
        until = time.monotonic() + WAIT_SECONDS
        while self.under_way and not self.lost and time.monotonic() < until:  # noqa: ASYNC110  # there is no event
            await asyncio.sleep(0.01)


async def drive(port: int, requests: Requests, rate: float, seconds: float, connections: int) -> None:
    driver = Driver(requests)
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        await loop.create_connection(lambda: Connection(driver), HOST, port)
    began = time.monotonic()
    offered = await driver.at_rate(rate, seconds) if rate else await driver.in_turn(seconds)
    await driver.finish()
    seen = driver.seen
    shown = {
        "offered": offered,
        "seconds": time.monotonic() - began,
        "unanswered": driver.under_way,
        "lost": driver.lost,
        "wrong": seen.wrong,
        "first_wrong": seen.first_wrong,
        "latencies": seen.latencies,
    }
    print(json.dumps(shown))


if __name__ == "__main__":
    port, companies, rate, seconds, *numbers = sys.argv[1:]
    seed, connections, articles, partners = map(int, numbers)
    known = json.loads(Path(companies).read_text(encoding="utf-8"))
    requests = Requests(known, seed, articles, partners)
    uvloop.run(drive(int(port), requests, float(rate), float(seconds), connections))
