"""Subscriptions, receivers and starts and stops of the sender in any order, with a controlled clock.

After each step every delivery is what the model says. Every request was one that the model allows. Nothing that
could have been sent is left.
"""

from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.events.webhooks.watched import DAY, Asked, Client, WatchedSender
from tests.events.webhooks.world_model import Subscription
from tests.warehouse.documents.machine import BEGINNING, SETTINGS, STEPS, open_runs
from wmsd.events.webhooks.deliveries import due_store, redelivery
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter
from wmsd.events.webhooks.deliveries.schema import CLOSED_STATUSES
from wmsd.events.webhooks.sending import due_scanner, sender
from wmsd.events.webhooks.sending.test_event import send_test
from wmsd.http_client.lazy_client import LazyClient

pytestmark = pytest.mark.long

STEPS_OF_A_RUN = 40
RUNS = STEPS // 36
MOST_SUBSCRIPTIONS = 4
LONG_AGO, NEVER = "2000-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"
WAYS = st.sampled_from([[], ["IN_LUCRU"], ["IN_LUCRU", "INCARCAT", "LIVRAT"], ["ANULAT"]])
TOPICS = st.sampled_from(
    [("*",), ("*",), ("sales_order.created", "sales_order.status_changed"), ("article.updated", "article.created")]
)
MANNERS = st.sampled_from([200, 200, 200, 500, 500, 500, 410, None, None])
"""The status that a receiver answers. None means that the receiver hangs."""
BRIEFLY = st.sampled_from([True, True, False])
ANSWERS = st.sampled_from([200, 200, 500, 500, 410])
CHANGES = ["moves", "off", "deleted", "new secret", "module", "module", "clock", "again"]
WHICH = st.integers(0, 9)


class WebhooksMachine(WatchedSender):
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
        """Import articles, which cause one event each: created or updated."""
        rows = "".join(f"N{number},x{self.runs.steps}\n" for number in range(count))
        self.done(self.world.import_csv("articles", f"code,name\n{rows}"))

    @rule(way=WAYS, has_notes=st.booleans())
    def an_order_comes_and_moves(self, way: list[str], has_notes: bool) -> None:
        """Create an order and move it. Each transaction has one or two events of the order."""

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
        """Make the receivers answer in this manner from here on, and switch everything on."""
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
        """Change something behind a receiver that hangs.

        When the receiver answers, the sender handles what it has loaded by the changed state.
        """
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
    @rule(which=WHICH, statuses=st.sampled_from([CLOSED_STATUSES, redelivery.FAILED]))
    def a_range_is_sent_again(self, which: int, statuses: tuple[str, ...]) -> None:
        chosen = self.chosen(which)
        wanted = DeliveryFilter(chosen.id, statuses, since=LONG_AGO, until=NEVER)

        async def whole() -> None:
            chosen.send_range(statuses, self.now)
            await (await self.world.database()).write(partial(redelivery.send_range, chosen=wanted, after=0))
            await self.settle()

        self.run(whole())

    @precondition(lambda self: self.model)
    @rule(which=WHICH, is_cut=st.booleans())
    def a_test_is_sent(self, which: int, is_cut: bool) -> None:
        """Send a test event. If the test is interrupted, the sender sends it a minute later."""
        chosen = self.chosen(which)
        manner = self.client.manners[chosen.url]

        async def whole() -> None:
            database = await self.world.database()
            delivery = chosen.queue_test(self.now)
            if is_cut or manner is None:
                await database.write(lambda tx: due_store.queue_test(tx, chosen.id))
            else:
                client = cast(LazyClient, Client(self.world, self.client.manners))
                company = (await self.installation.access.companies())[self.world.company]
                note_result = await send_test(database, client, self.world.clock, chosen.id, company)
                assert note_result is not None
                await database.write(note_result)
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
            self.committed(self.world.company)  # otherwise it would be noticed at the next commit
        await self.settle()

    @rule(seconds=st.sampled_from([1, 31, 31, 121, 481, 1921, 1921, DAY]), count=st.integers(0, 9))
    def time_passes(self, seconds: int, count: int) -> None:
        self.articles_come(count)
        self.pass_time(seconds)

    @precondition(lambda self: any(each.failing is not None for each in self.model.values()))
    @rule(seconds=st.sampled_from([1921, 1921, DAY]))
    def much_time_passes(self, seconds: int) -> None:
        """Let so much time pass that deliveries become exhausted and subscriptions are switched off."""
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


def test_many_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_scanner, "SCAN_AFTER_SECONDS", 0.0)
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
    assert len(asked) >= STEPS / 2
