"""The integrator: sends the month's orders, each walked to its end, over a few connections at once."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from benchmarks.processes import Failed
from replay.invoices import Invoice, Month
from replay.shop import Shop

CONNECTIONS: Final = 8
ORDERS: Final = "/api/v2/sales-orders"
PATIENCE: Final = aiohttp.ClientTimeout(total=60)


@dataclass(slots=True)
class Replay:
    month: Month
    partners: dict[str, int]
    warehouse_id: int
    session: aiohttp.ClientSession
    tell: Callable[[int], None]
    orders: int = 0
    requests: int = 0
    seconds: float = 0.0

    async def run(self) -> None:
        orders = iter(self.month.orders.values())
        started = time.perf_counter()
        await asyncio.gather(*(self._work(orders) for _ in range(CONNECTIONS)))
        self.seconds = time.perf_counter() - started

    async def _work(self, orders: Iterator[Invoice]) -> None:
        """Takes the next order that nobody has taken, until there is none."""
        for order in orders:
            first, *others = self.month.way(order.number)
            made = await self._send("POST", ORDERS, f"{order.number}-{first}", 201, self._body(order))
            path = f"{ORDERS}/{made['id']}/status"
            for status in others:
                await self._send("PATCH", path, f"{order.number}-{status}", 200, {"status": status})
            self.orders += 1
            self.tell(self.orders)

    def _body(self, order: Invoice) -> dict[str, Any]:
        return {
            "external_ref": order.number,
            "partner_id": self.partners[order.partner],
            "warehouse_id": self.warehouse_id,
            "requested_date": order.day,
            "lines": [{"article_code": code, "quantity": quantity} for code, quantity in order.lines],
        }

    async def _send(self, method: str, path: str, key: str, expected: int, body: dict[str, Any]) -> Any:
        headers = {"Idempotency-Key": key}
        try:
            async with self.session.request(method, path, json=body, headers=headers) as answer:
                text = await answer.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Failed(f"{method} {path} for {key} was not answered: {error!r}") from error
        self.requests += 1
        if answer.status != expected:
            raise Failed(f"{method} {path} for {key} was answered {answer.status}: {text[:500]}")
        return json.loads(text)


def replay(shop: Shop, month: Month, tell: Callable[[int], None]) -> Replay:
    """Raises Failed at the first request that is refused or not answered."""
    return asyncio.run(_replay(shop, month, tell))


async def _replay(shop: Shop, month: Month, tell: Callable[[int], None]) -> Replay:
    (warehouse_id,) = shop.ids("/api/warehouses").values()
    async with aiohttp.ClientSession(
        shop.server.url,
        headers=shop.company.headers,
        connector=aiohttp.TCPConnector(limit=CONNECTIONS),
        timeout=PATIENCE,
    ) as session:
        played = Replay(month, shop.ids("/api/partners"), warehouse_id, session, tell)
        await played.run()
    return played
