"""A receiver of webhooks that answers 200 immediately, and reports what has arrived.

    python -m benchmarks.receiver PORT

GET /seen returns the number of deliveries, and when the first and the last one came. GET /orders returns when each
sales_order.created came, by the order's id. DELETE /seen forgets everything. Times are of CLOCK_MONOTONIC, which
all processes share.
"""

import asyncio
import json
import sys
import time

import uvloop
from aiohttp import web


class Seen:
    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.count = 0
        self.first = 0.0
        self.last = 0.0
        self.orders: list[tuple[float, bytes]] = []

    async def take(self, request: web.Request) -> web.Response:
        now = time.monotonic()
        body = await request.read()
        self.first = self.first or now
        self.last = now
        self.count += 1
        if request.headers.get("X-Webhook-Event") == "sales_order.created":
            self.orders.append((now, body))
        return web.Response()

    async def tell(self, request: web.Request) -> web.Response:
        return web.json_response({"count": self.count, "first": self.first, "last": self.last})

    async def tell_orders(self, request: web.Request) -> web.Response:
        return web.json_response({json.loads(body)["data"]["id"]: arrived for arrived, body in self.orders})

    async def forget(self, request: web.Request) -> web.Response:
        self._clear()
        return web.Response()


async def _serve(port: int) -> None:
    seen = Seen()
    app = web.Application()
    app.router.add_get("/seen", seen.tell)
    app.router.add_delete("/seen", seen.forget)
    app.router.add_get("/orders", seen.tell_orders)
    app.router.add_post("/{name}", seen.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
