"""Tenants who work normally: each sends a request per second, timed from the moment when the request was due."""

import asyncio
import itertools
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.hostile.scene import Opened, Tenant, as_json, request

PATIENCE: Final = 30.0
EVERY_SECONDS: Final = 1.05
"""Seconds between requests, so that their rate is the default limit of a company."""
SIGN_IN_EVERY: Final = 20
MADE_ONCE: Final = (
    *("/docs/search?q=order", "/docs/api?q=order", "/docs/webhooks"),
    *("/openapi.json", "/api/v2/openapi.json", "/api/graphql/schema"),
)


@dataclass
class Served:
    """The answers to honest requests.

    `seconds` has the duration of every data request and what it requested. `refused` has a sentence for each
    request that was refused or broke.
    """

    seconds: list[tuple[float, str]] = field(default_factory=list)
    sign_ins: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)

    def slowest(self, share: float) -> float:
        """Return the seconds within which this share of the requests was answered."""
        ordered = sorted(seconds for seconds, _ in self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass
class HonestTenant:
    port: int
    tenant: Tenant
    address: str
    email: str
    password: str
    served: Served
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _kept: Opened | None = None
    _keeps_waiting: bool = False

    async def work(self, until: float) -> None:
        """Send about one request per second, whether or not the one before is answered."""
        running: set[asyncio.Task[None]] = set()
        due = time.monotonic()
        while due < until:
            number = next(self._numbers)
            running.add(asyncio.create_task(self._ask(number, due)))
            if number % SIGN_IN_EVERY == 0:
                running.add(asyncio.create_task(self.sign_in()))
            due += EVERY_SECONDS
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            running = {each for each in running if not each.done()}
        if running:
            await asyncio.wait(running)
        if self._kept is not None:
            self._kept[1].close()

    async def _ask(self, number: int, due: float) -> None:
        method, path, body = self._request(number)
        what = f"{method} {path.partition('?')[0]}"
        key = {"Idempotency-Key": f"honest-{self.tenant.company}-{number}"} if method == "POST" else {}
        try:
            async with asyncio.timeout(PATIENCE):
                status, _ = await self._over(number, method, path, body, {**self.tenant.headers, **key})
        except (OSError, EOFError, TimeoutError) as error:
            self.served.refused.append(f"{what} was not answered: {type(error).__name__}")
            return
        self.served.seconds.append((time.monotonic() - due, what))
        self.served.answers[f"{what} {status}"] += 1
        if status not in (200, 201):
            self.served.refused.append(f"{what} was answered {status}")

    def _request(self, number: int) -> tuple[str, str, Any]:
        kinds: tuple[tuple[str, str, Any], ...] = (
            ("GET", "/api/articles?per_page=50", None),
            ("GET", "/api/articles/1", None),
            ("GET", "/api/v2/stock?per_page=50", None),
            ("POST", "/api/v2/sales-orders", self._order(number)),
            ("GET", "/api/articles?search=a", None),
            ("GET", "/api/sales-orders?status=CREAT", None),
            ("POST", "/api/graphql", {"query": "{ sales_orders(first: 5) { nodes { id lines { quantity } } } }"}),
            ("GET", "/api/v2/events?per_page=10", None),
        )
        return kinds[number % len(kinds)]

    def _order(self, number: int) -> dict[str, Any]:
        line = {"article_code": "A0000001", "quantity": 1}
        return {"partner_id": 1, "warehouse_id": 1, "external_ref": f"honest {number}", "lines": [line]}

    async def _over(
        self, number: int, method: str, path: str, body: Any, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """Send a request, mostly over a new connection, as scanners do.

        Every fourth request uses a kept connection, unless that connection still waits for an answer.
        """
        content = b"" if body is None else as_json(body)
        if number % 4 or self._keeps_waiting:
            opened = await self._connect()
            try:
                return await _exchange(opened, request(method, path, content, headers))
            finally:
                opened[1].close()
        if self._kept is None or self._kept[0].at_eof() or self._kept[1].is_closing():
            self._kept = await self._connect()
        sent = request(method, path, content, {**headers, "Connection": "keep-alive"})
        self._keeps_waiting = True
        try:
            return await _exchange(self._kept, sent)
        finally:
            self._keeps_waiting = False

    async def _connect(self) -> Opened:
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))

    async def look_around(self) -> None:
        """Request the paths for which a server loads or creates something at the first request.

        After that, the server behaves as if it had been in use for some time.
        """
        for path in MADE_ONCE:
            opened = await self._connect()
            status, _ = await _exchange(opened, request("GET", path))
            assert status == 200, path
            opened[1].close()

    async def sign_in(self) -> None:
        """Sign in with the right password, always from the same address."""
        body = as_json({"email": self.email, "password": self.password, "abilities": ["articles:read"]})
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                opened = await self._connect()
                try:
                    status, raw = await _exchange(opened, request("POST", "/api/auth/token", body))
                finally:
                    opened[1].close()
        except (OSError, EOFError, TimeoutError) as error:
            self.served.refused.append(f"a sign-in was not answered: {type(error).__name__}")
            return
        self.served.sign_ins.append(time.monotonic() - began)
        if status != 200:
            self.served.refused.append(f"a sign-in was answered {status}: {json.loads(raw)['message']}")


async def _exchange(opened: Opened, sent: bytes) -> tuple[int, bytes]:
    reader, writer = opened
    writer.write(sent)
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    _, _, rest = head.lower().partition(b"\r\ncontent-length: ")
    raw = await reader.readexactly(int(rest.partition(b"\r\n")[0]))
    return int(head[9:12]), raw
