"""Receivers that answer when the test lets them, and a sender that sends to them without a network."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from tests.support.world import World
from wmsd.events.webhooks.sending.due_scanner import Companies
from wmsd.events.webhooks.sending.sender import Sender
from wmsd.http_client.answer import Answer
from wmsd.http_client.lazy_client import LazyClient
from wmsd.server.webhook_sender import new_sender

SECRET = "s" * 32


@dataclass
class Client:
    """Receivers that answer when they may.

    `asked` has the event id of each request. `answers` has the next answers.
    """

    status: int = 200
    seconds: float = 0.0
    answers: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, party: int) -> Answer:
        self.asked.append(headers["X-Webhook-Id"])
        answer = self.answers.pop(0) if self.answers else ""
        await asyncio.sleep(self.seconds)
        await (asyncio.Event() if answer == "hangs" else self.may_answer).wait()
        return Answer(500 if answer == "fails" else self.status, {}, b"", False, 0.001, None)


@dataclass
class Scene:
    world: World
    sender: Sender
    client: Client

    async def subscribe(self, **fields: Any) -> None:
        body = {"name": "R", "url": "https://receiver.example/", "events": ["*"], "secret": SECRET, **fields}
        await self.world.call("POST", "/api/webhooks", body, status=201)

    async def articles(self, first: int, last: int) -> None:
        """Import articles, which cause one event each."""
        rows = "".join(f"A{number},x\n" for number in range(first, last + 1))
        await self.world.import_csv("articles", f"code,name\n{rows}")

    async def statuses(self) -> list[str]:
        rows = await self.world.rows("SELECT status FROM webhook_deliveries ORDER BY id")
        return [status for (status,) in rows]

    async def event_ids(self) -> list[str]:
        return [id for (id,) in await self.world.rows("SELECT id FROM events ORDER BY sequence")]

    def ask(self, companies: Companies) -> None:
        """Make the sender ask `companies` from here on."""
        for part in (self.sender, self.sender._scanner):
            part._companies = companies

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not holds():  # noqa: ASYNC110  # nothing reports the change
                await asyncio.sleep(0.005)

    async def at_rest(self) -> None:
        await asyncio.sleep(0.1)


def name_of(action: Any) -> str:
    name: str = getattr(action, "func", action).__qualname__
    return name


@asynccontextmanager
async def sending(world: World) -> AsyncIterator[Scene]:
    client = Client()
    sender = new_sender(world.installation, cast(LazyClient, client))
    await sender.start()
    try:
        yield Scene(world, sender, client)
    finally:
        client.may_answer.set()
        await sender.stop()
