"""Subscriptions, receivers and the life of the sender in any order, by a steered clock.

After each step every delivery is what the model says, every request was one that it allows, and nothing lies that
could have been sent.
"""

import asyncio
import base64
import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.documents.machine import BEGINNING, SETTINGS, Runs, open_runs
from tests.support.shop import open_shop
from tests.support.world import World
from tests.webhooks.world_model import MOST_AT_ONCE, Delivery, Event, Subscription
from wmsd.app.site import Site
from wmsd.base import timestamps
from wmsd.base.context import Company
from wmsd.webhooks import deliveries, lookout, redelivery, sender
from wmsd.webhooks.checks import CHECKS
from wmsd.webhooks.client import Answer
from wmsd.webhooks.dialler import Dialler
from wmsd.webhooks.redelivery import Range
from wmsd.webhooks.sender import Sender
from wmsd.webhooks.trial import send_test

STEPS_OF_A_RUN = 40
RUNS = int(os.environ.get("MACHINE_STEPS", "1000")) // 36
MOST_SUBSCRIPTIONS = 4
DAY = 86_400
LONG_AGO, NEVER = "2000-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"
WAYS = st.sampled_from([[], ["IN_LUCRU"], ["IN_LUCRU", "INCARCAT", "LIVRAT"], ["ANULAT"]])
TOPICS = st.sampled_from(
    [("*",), ("*",), ("sales_order.created", "sales_order.status_changed"), ("article.updated", "article.created")]
)
MANNERS = st.sampled_from([200, 200, 200, 500, 500, 500, 410, None, None])
"""What a receiver answers; None: it hangs."""
BRIEFLY = st.sampled_from([True, True, False])
ANSWERS = st.sampled_from([200, 200, 500, 500, 410])
CHANGES = ["moves", "off", "deleted", "new secret", "module", "module", "clock", "again"]
WHICH = st.integers(0, 9)


@dataclass
class Asked:
    """A request of the sender's, and in the end what it was answered; None was never answered."""

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
    """Receivers that answer as they are told, by URL. `log` has what came and what went, in order."""

    world: World
    manners: dict[str, int | None] = field(default_factory=dict)
    log: list[tuple[str, Asked]] = field(default_factory=list)
    hanging: list[Asked] = field(default_factory=list)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
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


class WebhooksMachine(RuleBasedStateMachine):
    def __init__(self, runs: Runs, every_request: list[Asked]) -> None:
        """`every_request` takes those of all runs."""
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
        self.world.clock.advance(DAY)  # so that it can be set back, but not to before the token was made
        self.client = Client(self.world)
        self.world.site.files.after_commit = self.committed
        await open_shop(self.world)
        await self.world.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,100000\n")
        self.last_event = await self.world.last_event()
        await self.begin_to_send()

    def committed(self, company: int) -> None:
        if self.sender is not None:
            self.sender.committed(company)

    @property
    def site(self) -> Site:
        return self.world.site

    @property
    def now(self) -> int:
        return milliseconds(self.world)

    async def begin_to_send(self) -> None:
        async def companies() -> dict[int, Company]:
            known = (await self.site.access.companies())[self.world.company]
            return {known.id: known if self.is_on else replace(known, modules=known.modules - {"webhooks"})}

        async def audit(action: str, subject: str) -> None:
            pass

        self.sender = Sender(
            files=self.site.files,
            companies=companies,
            audit=audit,
            client=cast(Dialler, self.client),
            vault=self.site.vault,
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
        self.world.site.files.after_commit = None
        await (await self.world.database()).close()

    async def stop(self) -> None:
        assert self.sender is not None
        await self.sender.stop()
        self.sender = None
        for subscription in self.model.values():
            for delivery in subscription.under_way:
                delivery.began = None  # cut off: it is due as before

    # --- what is looked at after each step ----------------------------------------------------------------------

    async def settle(self) -> None:
        """Waits until nothing moves, and holds all that was seen to the model."""
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
        running = self.sender
        if running is None:
            return False
        return running.is_busy or running.under_way > len(self.client.hanging)

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
        """Whether this might be sent, at this moment and in this way."""
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

    # --- what happens --------------------------------------------------------------------------------------------

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.world.send(method, path, body)
        assert answer.status < 300, (method, path, answer.raw)
        return answer.body

    def done(self, work: Any) -> Any:
        """The work, and all that comes of it."""

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

    @initialize(events=TOPICS, manner=MANNERS)
    def somebody_subscribes(self, events: tuple[str, ...], manner: int | None) -> None:
        self.subscribe(events, manner)

    @precondition(lambda self: len(self.model) < MOST_SUBSCRIPTIONS)
    @rule(events=TOPICS, manner=MANNERS)
    def another_subscribes(self, events: tuple[str, ...], manner: int | None) -> None:
        self.subscribe(events, manner)

    def subscribe(self, events: tuple[str, ...], manner: int | None) -> None:
        url, secret = self.new_url(manner), f"secret of {self.urls:020}"
        body = {"name": "R", "url": url, "events": events, "secret": secret}
        made = self.run(self.call("POST", "/api/webhooks", body))
        self.model[made["id"]] = Subscription(made["id"], url, secret, events, self.now)
        self.run(self.settle())

    @rule(count=st.integers(1, 40))
    def articles_come(self, count: int) -> None:
        """An event for each: created, or updated."""
        rows = "".join(f"N{number},x{self.runs.steps}\n" for number in range(count))
        self.done(self.world.import_csv("articles", f"code,name\n{rows}"))

    @rule(way=WAYS, has_notes=st.booleans())
    def an_order_comes_and_moves(self, way: list[str], has_notes: bool) -> None:
        """A transaction for each, with one event or two of the order."""

        async def whole() -> None:
            body = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1}]}
            id = (await self.call("POST", "/api/sales-orders", body))["id"]
            await self.settle()
            for status in way:
                changes = {"status": status, "notes": status} if has_notes else {"status": status}
                await self.call("PATCH", f"/api/sales-orders/{id}", changes)
                await self.settle()

        self.run(whole())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, manner=MANNERS)
    def a_receiver_changes(self, which: int, manner: int | None) -> None:
        self.client.manners[self.chosen(which).url] = manner

    @rule(manner=MANNERS, count=st.integers(1, 20))
    def all_is_looked_after(self, manner: int | None, count: int) -> None:
        """The receivers do as they are told from here on, and everything is on."""
        for url in self.client.manners:
            self.client.manners[url] = manner
        if self.sender is None:
            self.the_sender_stops_or_starts(False)
        if not self.is_on:
            self.the_module_is_switched(False)
        for which in range(len(self.model)):
            self.one_is_switched(which, True)
        self.articles_come(count)
        self.an_order_comes_and_moves(["IN_LUCRU", "INCARCAT", "LIVRAT"], True)

    @precondition(lambda self: self.client.hanging)
    @rule(which=WHICH, status=ANSWERS, manner=MANNERS)
    def one_that_hung_answers(self, which: int, status: int, manner: int | None) -> None:
        asked = self.client.hanging[which % len(self.client.hanging)]
        self.client.manners[asked.url] = manner
        asked.status = status
        asked.may_end.set()
        self.run(self.settle())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, active=BRIEFLY)
    def one_is_switched(self, which: int, active: bool) -> None:
        chosen = self.chosen(which)

        async def whole() -> None:
            await self.call("PATCH", f"/api/webhooks/{chosen.id}", {"active": active})
            if chosen.active != active:
                chosen.changed = self.now
            chosen.switch(active)
            await self.settle()

        self.run(whole())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, manner=MANNERS)
    def one_moves(self, which: int, manner: int | None) -> None:
        chosen, url = self.chosen(which), self.new_url(manner)

        async def whole() -> None:
            await self.call("PATCH", f"/api/webhooks/{chosen.id}", {"url": url})
            chosen.url, chosen.changed = url, self.now
            await self.settle()

        self.run(whole())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, is_rotated=st.booleans())
    def one_gets_a_new_secret(self, which: int, is_rotated: bool) -> None:
        chosen = self.chosen(which)
        secret = f"new secret {self.runs.steps:020}"

        async def whole() -> None:
            if is_rotated:
                await self.call("POST", f"/api/v2/webhooks/{chosen.id}/rotate-secret", {"secret": secret})
                chosen.previous, chosen.previous_ends = chosen.secret, self.now + DAY * 1000
            else:
                await self.call("PATCH", f"/api/webhooks/{chosen.id}", {"secret": secret})
                chosen.previous = None
            chosen.secret, chosen.changed = secret, self.now
            await self.settle()

        self.run(whole())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, change=st.sampled_from(CHANGES), status=ANSWERS)
    def something_changes_behind_one_that_hangs(self, which: int, change: str, status: int) -> None:
        """What it has loaded then is sent by what holds when it answers."""
        chosen = self.chosen(which)
        self.client.manners[chosen.url] = None
        self.articles_come(20)
        match change:
            case "moves":
                self.one_moves(which, 200)
            case "off":
                self.one_is_switched(which, False)
            case "deleted" if len(self.model) > 1:
                self.one_is_deleted(which)
            case "new secret":
                self.one_gets_a_new_secret(which, True)
            case "module":
                self.the_module_is_switched(True)
            case "clock":
                self.the_clock_is_set_back(3600)
            case "again" if chosen.deliveries:
                self.one_is_sent_again(which, 5)
        hanging = [each for each in self.client.hanging if each.of is chosen]
        for asked in hanging:
            asked.status = status
            asked.may_end.set()
        self.run(self.settle())

    @precondition(lambda self: len(self.model) > 1)
    @rule(which=WHICH)
    def one_is_deleted(self, which: int) -> None:
        chosen = self.chosen(which)

        async def whole() -> None:
            await self.call("DELETE", f"/api/webhooks/{chosen.id}")
            del self.model[chosen.id]
            await self.settle()

        self.run(whole())

    @precondition(lambda self: any(each.deliveries for each in self.model.values()))
    @rule(which=WHICH, back=st.integers(0, 30))
    def one_is_sent_again(self, which: int, back: int) -> None:
        filled = [each for each in self.model.values() if each.deliveries]
        chosen = filled[which % len(filled)]
        delivery = chosen.deliveries[-1 - back % len(chosen.deliveries)]
        path = f"/api/v2/webhooks/{chosen.id}/deliveries"

        async def whole() -> None:
            rows = await self.world.rows(
                "SELECT id FROM webhook_deliveries WHERE subscription_id = ? AND sequence = ?",
                (chosen.id, delivery.sequence),
            )
            chosen.send_again(delivery, self.now)
            await self.call("POST", f"{path}/{rows[0][0]}/redeliver")
            await self.settle()

        self.run(whole())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, statuses=st.sampled_from([redelivery.CLOSED, redelivery.FAILED]))
    def a_range_is_sent_again(self, which: int, statuses: tuple[str, ...]) -> None:
        chosen = self.chosen(which)
        wanted = Range(chosen.id, LONG_AGO, NEVER, statuses)

        async def whole() -> None:
            chosen.send_range(statuses, self.now)
            await (await self.world.database()).write(partial(redelivery.send_range, chosen=wanted, after=0))
            await self.settle()

        self.run(whole())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, is_cut=st.booleans())
    def a_test_is_sent(self, which: int, is_cut: bool) -> None:
        """It may be cut off: then it is the sender's, a minute later."""
        chosen = self.chosen(which)
        manner = self.client.manners[chosen.url]

        async def whole() -> None:
            database = await self.world.database()
            delivery = chosen.queue_test(self.now)
            if is_cut or manner is None:
                await database.write(lambda tx: deliveries.queue_test(tx, chosen.id))
            else:
                client = Client(self.world, self.client.manners)
                dialler = cast(Dialler, client)
                await send_test(database, dialler, self.world.clock, self.site.vault, chosen.id, False)
                chosen.finish(delivery, manner, self.now, self.now)
            await self.settle()

        self.run(whole())

    @rule(is_brief=BRIEFLY)
    def the_module_is_switched(self, is_brief: bool) -> None:
        self.run(self.switch_module())
        if is_brief and not self.is_on:
            self.run(self.switch_module())

    async def switch_module(self) -> None:
        self.is_on = not self.is_on
        if not self.is_on:
            self.committed(self.world.company)  # else it would be seen at the next commit
        await self.settle()

    @rule(seconds=st.sampled_from([1, 31, 31, 121, 481, 1921, 1921, DAY]), count=st.integers(0, 9))
    def time_passes(self, seconds: int, count: int) -> None:
        self.articles_come(count)
        self.pass_time(seconds)

    @precondition(lambda self: any(each.failing is not None for each in self.model.values()))
    @rule(seconds=st.sampled_from([1921, 1921, DAY]))
    def much_time_passes(self, seconds: int) -> None:
        """So that deliveries are given up, and subscriptions."""
        for _ in range(5):
            self.pass_time(seconds)

    def pass_time(self, seconds: int) -> None:
        async def whole() -> None:
            self.world.clock.advance(seconds)
            if self.sender is not None:
                await self.sender.tick()
            await self.settle()

        self.run(whole())

    @rule(seconds=st.sampled_from([10, 600, 3600, DAY]))
    def the_clock_is_set_back(self, seconds: int) -> None:
        async def whole() -> None:
            back = min(seconds, int((self.world.clock.now() - BEGINNING).total_seconds()))
            self.world.clock.set_back(back)
            if self.sender is not None:
                if back > 1:
                    for subscription in self.model.values():
                        subscription.clamp(self.now)
                await self.sender.tick()
            await self.settle()

        self.run(whole())

    @rule(is_brief=BRIEFLY)
    def the_sender_stops_or_starts(self, is_brief: bool) -> None:
        async def whole() -> None:
            was_sending = self.sender is not None
            if was_sending:
                await self.stop()
            if is_brief or not was_sending:
                await self.begin_to_send()
            await self.settle()

        self.run(whole())


def signatures(asked: Asked, secrets: list[str]) -> str:
    signed = f"{asked.headers['webhook-id']}.{asked.headers['webhook-timestamp']}.".encode() + asked.body
    digests = [hmac.digest(secret.encode(), signed, hashlib.sha256) for secret in secrets]
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)


def test_1_000_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, "LOOK_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(sender, "STOP_SECONDS", 0.01)
    asked: list[Asked] = []
    with open_runs(tmp_path) as runs:
        made: Any = partial(WebhooksMachine, runs, asked)
        chosen = settings(SETTINGS, max_examples=RUNS, stateful_step_count=STEPS_OF_A_RUN)
        try:
            run_state_machine_as_test(made, settings=chosen)
        finally:
            with capsys.disabled():
                print(f"\n{runs.steps} steps in {runs.count} companies, {len(asked)} requests")
    assert len(asked) >= 500
