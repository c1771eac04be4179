"""A sender whose every request, and every row that it leaves, is compared with a model."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
)

from tests.events.webhooks.rest import is_busy
from tests.events.webhooks.world_model import MOST_AT_ONCE, Delivery, Event, Subscription
from tests.support.shop import open_shop
from tests.support.world import World
from tests.warehouse.documents.machine import Runs
from wmsd.base import timestamps
from wmsd.contract.context import Company
from wmsd.events.webhooks.checks import CHECKS
from wmsd.events.webhooks.missing_credentials import MissingCredentials
from wmsd.events.webhooks.sending.sender import Sender
from wmsd.http_client.answer import Answer
from wmsd.http_client.lazy_client import LazyClient
from wmsd.installation.open_installation import Installation

DAY = 86_400


@dataclass
class Asked:
    """A request of the sender, and finally the answer. None means that the request was never answered."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    at: int
    status: int | None = None
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    delivery: Delivery | None = None
    of: Subscription | None = None


@dataclass
class Client:
    """Receivers that answer as the test says, by URL. `log` has all requests and answers, in order."""

    world: World
    manners: dict[str, int | None] = field(default_factory=dict)
    log: list[tuple[str, Asked]] = field(default_factory=list)
    hanging: list[Asked] = field(default_factory=list)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, party: int) -> Answer:
        asked = Asked(url, dict(headers), body, milliseconds(self.world), self.manners[url])
        self.log.append(("asked", asked))
        if asked.status is None:
            self.hanging.append(asked)
            try:
                await asked.may_end.wait()
            finally:
                self.hanging.remove(asked)
        self.log.append(("answered", asked))
        return Answer(asked.status, {}, b"", False, 0.001, None)


def milliseconds(world: World) -> int:
    return timestamps.microseconds(world.clock.now()) // 1000


class WatchedSender(RuleBasedStateMachine):
    """A sender in a world, its receivers, and the model that says what the sender may do."""

    def __init__(self, runs: Runs, every_request: list[Asked]) -> None:
        """Open a world and a sender. `every_request` collects the requests of all runs."""
        super().__init__()
        self.every_request = every_request
        self.runs, self.run = runs, runs.loop.run_until_complete
        self.world = runs.new_company()
        self.model: dict[int, Subscription] = {}
        self.last_event = 0
        self.urls = 0
        self.is_on = True
        self.sender: Sender | None = None
        self.run(self.open())

    async def open(self) -> None:
        self.world.clock.advance(DAY)  # so that the clock can be set back, but not to before the token was created
        self.client = Client(self.world)
        self.world.installation.files.after_commit = self.committed
        await open_shop(self.world)
        await self.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,100000\n")
        self.last_event = await self.world.last_event()
        await self.begin_to_send()

    def committed(self, company: int) -> None:
        if self.sender is not None:
            self.sender.committed(company)

    @property
    def installation(self) -> Installation:
        return self.world.installation

    @property
    def now(self) -> int:
        return milliseconds(self.world)

    async def begin_to_send(self) -> None:
        async def companies() -> dict[int, Company]:
            known = (await self.installation.access.companies())[self.world.company]
            return {known.id: known if self.is_on else replace(known, modules=known.modules - {"webhooks"})}

        async def audit(action: str, subject: str) -> None:
            pass

        async def tell_missing(company: Company, missing: list[MissingCredentials]) -> None:
            assert not missing

        self.sender = Sender(
            files=self.installation.files,
            companies=companies,
            audit=audit,
            tell_missing=tell_missing,
            client=cast(LazyClient, self.client),
            vault=self.installation.vault,
            clock=self.world.clock,
            answered=lambda: 0,
        )
        for subscription in self.model.values():
            subscription.allowed = 1
            subscription.clamp(self.now)
        await self.sender.start()

    def teardown(self) -> None:
        self.run(self.close())

    async def close(self) -> None:
        if self.sender is not None:
            await self.stop()
        self.world.installation.files.after_commit = None
        await (await self.world.database()).close()

    async def stop(self) -> None:
        assert self.sender is not None
        await self.sender.stop()
        self.sender = None
        for subscription in self.model.values():
            for delivery in subscription.under_way:
                delivery.began = None  # interrupted: it is due as before

    # --- the checks after each step ----------------------------------------------------------------------------

    async def settle(self) -> None:
        """Wait until nothing moves, and compare everything that happened with the model."""
        quiet = 0
        while quiet < 3:
            await asyncio.sleep(0.001)
            quiet = 0 if self.moves else quiet + 1
        await self.learn_events()
        for what, asked in self.client.log:
            self.judge(asked) if what == "asked" else self.conclude(asked)
        self.client.log.clear()
        self.skip_what_may_not_be_sent()

    @property
    def moves(self) -> bool:
        return self.sender is not None and is_busy(self.sender, len(self.client.hanging))

    async def learn_events(self) -> None:
        rows = await self.world.rows(
            "SELECT sequence, id, event, entity, entity_id, occurred_at, data FROM events WHERE sequence > ?"
            " ORDER BY sequence",
            (self.last_event,),
        )
        for sequence, id, name, entity, entity_id, at, data in rows:
            body = f'{{"event":"{name}","timestamp":"{at}","data":{data}}}'
            event = Event(sequence, id, name, entity, entity_id, body)
            for subscription in self.model.values():
                if subscription.active and (name in subscription.events or "*" in subscription.events):
                    subscription.queue(event, self.now)
            self.last_event = sequence

    def judge(self, asked: Asked) -> None:
        """Check that the request may be sent at this moment and in this way."""
        self.every_request.append(asked)
        found = [each for each in self.model.values() if each.url == asked.url]
        assert found, ("sent to where nobody subscribes any more", asked.url)
        subscription = found[0]
        delivery = subscription.deliveries[int(asked.headers["X-Webhook-Sequence"]) - 1]
        is_leaving = subscription.is_switched_off and asked.at == self.now  # by an answer of this step
        assert self.is_on
        assert subscription.active or is_leaving, ("sent to one that is off", asked)
        assert delivery.status == "pending", (delivery, subscription)
        assert delivery.due is not None
        assert delivery.due <= asked.at, (delivery, asked)
        assert delivery.began is None, ("sent twice at a time", delivery)
        assert int(asked.headers["X-Webhook-Attempt"]) == delivery.attempts + 1
        if delivery.event is not None:
            assert asked.headers["X-Webhook-Id"] == delivery.event.id
            assert asked.body.decode() == delivery.event.body
        assert asked.headers["webhook-signature"] == signatures(asked, subscription.secrets(asked.at))
        delivery.began = asked.at
        asked.delivery, asked.of = delivery, subscription

    def conclude(self, asked: Asked) -> None:
        assert asked.delivery is not None
        assert asked.of is not None
        assert asked.status is not None
        asked.of.allowed = min(asked.of.allowed + 1, MOST_AT_ONCE) if asked.status == 200 else 1
        asked.of.finish(asked.delivery, asked.status, self.now, asked.at)

    def skip_what_may_not_be_sent(self) -> None:
        is_due = any(
            (delivery.due or 0) <= self.now
            for subscription in self.model.values()
            if subscription.active
            for delivery in subscription.pending()
        )
        if self.sender is not None and not self.is_on and is_due:
            for subscription in self.model.values():
                subscription.skip_all()

    @invariant()
    def the_file_is_as_the_model_says(self) -> None:
        self.runs.steps += 1
        self.run(self.compare())

    async def compare(self) -> None:
        expected = {id: subscription.shown for id, subscription in self.model.items()}
        rows = await self.world.rows(
            "SELECT subscription_id, sequence, status, due_at, attempts, attempts_left FROM webhook_deliveries"
            " WHERE subscription_id IN (SELECT id FROM webhook_subscriptions) ORDER BY id"
        )
        found: dict[int, list[tuple[object, ...]]] = {}
        for id, *shown in rows:
            found.setdefault(id, []).append(tuple(shown))
        subscriptions = await self.world.rows(
            "SELECT id, active = 1, switched_off_at IS NOT NULL,"
            " iif(failing_since IS NULL, NULL, failing_milliseconds) FROM webhook_subscriptions"
        )
        assert expected == {
            id: (bool(active), bool(is_off), failing, found.get(id, []))
            for id, active, is_off, failing in subscriptions
        }

    @invariant()
    def nothing_lies_that_could_have_been_sent(self) -> None:
        if self.sender is None or not self.is_on:
            return
        for subscription in self.model.values():
            if subscription.active and subscription.due(self.now):
                assert len(subscription.under_way) >= subscription.allowed, subscription

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        if self.runs.steps % 10 == 0:
            self.run(self.examined())

    async def examined(self) -> None:
        for check in CHECKS:
            assert await self.world.rows(check.differing) == [], check.promise

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.world.send(method, path, body)
        assert answer.status < 300, (method, path, answer.raw)
        return answer.body

    def done(self, work: Any) -> Any:
        """Run the work, and everything that follows from it."""

        async def whole() -> Any:
            found = await work
            await self.settle()
            return found

        return self.run(whole())

    def new_url(self, manner: int | None) -> str:
        self.urls += 1
        url = f"https://receiver{self.urls % 3}.example/{self.urls}"
        self.client.manners[url] = manner
        return url

    def chosen(self, which: int) -> Subscription:
        known = list(self.model.values())
        return known[which % len(known)]


def signatures(asked: Asked, secrets: list[str]) -> str:
    signed = f"{asked.headers['webhook-id']}.{asked.headers['webhook-timestamp']}.".encode() + asked.body
    digests = [hmac.digest(secret.encode(), signed, hashlib.sha256) for secret in secrets]
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
