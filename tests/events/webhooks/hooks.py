"""The shop of ACME, with a running sender, and an HTTPS receiver whose certificate the test
authority has issued.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.events.webhooks.rest import is_busy
from tests.support.authority import Authority
from tests.support.receivers import ANY_PORT, Received, Receiver
from tests.support.shop import Shop, open_shop
from tests.support.world import UNLIMITED, Answer, World, open_world
from wmsd.events.webhooks.sending.sender import Sender

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
LONGEST = 10.0
SETTLED = 0.1


class Hooks:
    def __init__(self, world: World, shop: Shop, receiver: Receiver, sender: Sender) -> None:
        self.world = world
        self.shop = shop
        self.receiver = receiver
        self.sender = sender

    @property
    def received(self) -> list[Received]:
        return self.receiver.received

    @property
    def events(self) -> list[str]:
        return [each.headers["x-webhook-event"] for each in self.received]

    async def subscribe(self, *events: str, path: str = "/200", **fields: Any) -> int:
        """Create a webhook, signed by hmac unless the fields say otherwise. Return its id."""
        secret = {} if "auth_type" in fields else {"secret": SECRET}
        body = {"name": "ERP", "url": self.receiver.url(path), "events": list(events) or ["*"], **secret}
        return (await self.world.call("POST", "/api/webhooks", {**body, **fields}, status=201)).id

    async def subscription(self, id: int = 1) -> Any:
        return (await self.world.call("GET", f"/api/webhooks/{id}")).body

    async def change(self, id: int = 1, **fields: Any) -> Answer:
        return await self.world.call("PATCH", f"/api/webhooks/{id}", fields)

    async def log(self, id: int = 1, query: str = "") -> list[Any]:
        """Return the deliveries of a webhook, the oldest first."""
        answer = await self.world.call("GET", f"/api/v2/webhooks/{id}/deliveries?per_page=500{query}")
        return list(reversed(answer.body["data"]))

    async def statuses(self, id: int = 1) -> list[str]:
        return [delivery["status"] for delivery in await self.log(id)]

    async def received_count(self, count: int) -> None:
        """Wait until this number of requests was received, and check that no more come."""
        await self.until(lambda: len(self.received) >= count)
        await asyncio.sleep(SETTLED)
        assert len(self.received) == count, self.events

    async def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + LONGEST
        while not holds():
            assert time.monotonic() < end, (self.events, "never came to hold")
            await asyncio.sleep(0.005)

    async def settled(self) -> None:
        """Wait until nothing is under way and everything is recorded."""
        quiet = 0
        before = -1
        while quiet < 3:
            await asyncio.sleep(SETTLED / 3)
            quiet = 0 if is_busy(self.sender) or before != len(self.received) else quiet + 1
            before = len(self.received)

    async def later(self, seconds: float) -> None:
        """Let time pass, and send what is due then."""
        self.world.clock.advance(seconds)
        await self.sender.tick()
        await self.settled()

    async def audit(self) -> list[tuple[str, str]]:
        return await self.world.installation.platform.read(
            lambda tx: [(row[0], row[1]) for row in tx.rows("SELECT action, subject FROM audit ORDER BY id")]
        )


@asynccontextmanager
async def open_hooks(data: Path, authority: Authority, **settings: Any) -> AsyncIterator[Hooks]:
    """Open hooks.

    `settings` belong to the section webhooks, in addition to the settings that allow the receiver.
    """
    allowed = {"allow_networks": ["127.0.0.1/32"], "allow_ports": ANY_PORT, "ca_file": str(authority.ca_file)}
    async with (
        Receiver(tls=authority.server_context()) as receiver,
        open_world(data, {**UNLIMITED, "webhooks": {**allowed, **settings}}) as world,
    ):
        await world.sender.start()
        yield Hooks(world, await open_shop(world), receiver, world.sender)
        await world.sender.stop()
