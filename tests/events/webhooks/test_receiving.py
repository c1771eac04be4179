"""Tests of the test receivers inside wmsd: they get what would have been sent, and can be told to fail."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.events.webhooks.rest import is_busy
from tests.events.webhooks.test_guide import block
from tests.support import guide_receiver
from tests.support.shop import Shop, open_shop
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.problems import Problem
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks import receiver_rules
from wmsd.events.webhooks.deliveries import actions as delivery_actions
from wmsd.events.webhooks.receiver_rules import ADDRESS
from wmsd.events.webhooks.sending.test_event import send_test
from wmsd.events.webhooks.signing import has_valid_signature
from wmsd.events.webhooks.test_receivers import (
    actions,
    receiver,
    store,
)
from wmsd.events.webhooks.test_receivers.schema import NewReceiver, ReceiverAnswer
from wmsd.server.webhook_sender import new_client
from wmsd.tenants.companies import actions as companies

EVENTS = ["sales_order.created", "sales_order.status_changed"]


class Scene:
    def __init__(self, world: World, shop: Shop) -> None:
        self.world = world
        self.shop = shop

    async def make(self, **fields: Any) -> int:
        body = validate_model(NewReceiver, {"events": EVENTS, **fields})
        company = await self.company()
        record = await self.write(lambda tx: actions.make_webhook_receiver.action(tx, body, company))
        return int(record.id)

    async def company(self) -> Any:
        return await self.world.installation.platform.read(lambda tx: companies.company_of_code(tx, "ACME"))

    async def write(self, work: Any) -> Any:
        return await (await self.world.database()).write(work)

    async def shown(self, id: int = 1) -> Any:
        company = await self.company()
        read = actions.get_webhook_receiver.action
        return await (await self.world.database()).read(lambda tx: read(tx, id, company))

    async def answer(self, answers: str, id: int = 1) -> None:
        body = validate_model(ReceiverAnswer, {"answers": answers})
        company = await self.company()
        await self.write(lambda tx: actions.change_webhook_receiver.action(tx, id, body, company))

    async def settled(self) -> None:
        quiet = 0
        while quiet < 5:
            await asyncio.sleep(0.03)
            quiet = 0 if is_busy(self.world.sender) else quiet + 1

    async def later(self, seconds: float) -> None:
        self.world.clock.advance(seconds)
        await self.world.sender.tick()
        await self.settled()

    async def log(self, id: int = 1) -> Any:
        answer = await self.world.call("GET", f"/api/v2/webhooks/{id}/deliveries")
        return answer.body["data"][::-1]


@asynccontextmanager
async def opened(data: Path) -> AsyncIterator[Scene]:
    async with open_world(data, UNLIMITED) as world:
        await world.sender.start()
        yield Scene(world, await open_shop(world))
        await world.sender.stop()


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with opened(tmp_path / "data") as opened_scene:
        yield opened_scene


def test_signatures_are_checked_by_the_very_code_of_the_guide() -> None:
    assert inspect.getsource(guide_receiver).partition('"""\n\n')[2] == block("python")
    assert inspect.getsource(has_valid_signature) == inspect.getsource(guide_receiver.has_valid_signature)


async def test_what_happens_arrives_with_a_valid_signature_and_is_delivered(scene: Scene) -> None:
    await scene.make()
    await scene.shop.order(status="IN_LUCRU")
    await scene.settled()
    shown = await scene.shown()
    assert [(each["event"], each["attempt"], each["answered"]) for each in shown["received"]] == [
        ("sales_order.status_changed", 1, "success"),
        ("sales_order.created", 1, "success"),
    ]
    assert all(each["has_valid_signature"] and abs(each["age"]) <= 1 for each in shown["received"])
    assert not any(each["is_repeated"] or each["is_overtaken"] for each in shown["received"])
    log = await scene.log()
    assert [each["status"] for each in log] == ["delivered", "delivered"]
    assert log[0]["attempts"][0]["response_body"] == "The test receiver accepted the delivery."


async def test_what_is_kept_is_what_the_log_says_was_sent(scene: Scene) -> None:
    await scene.make()
    await scene.shop.order()
    await scene.settled()
    database = await scene.world.database()
    kept = await database.read(lambda tx: actions.get_webhook_received.action(tx, 1, 1))
    sent = await database.read(lambda tx: delivery_actions.get_webhook_delivery.action(tx, 1, kept["delivery_id"]))
    assert (kept["body"], kept["is_cut"]) == (sent["body"], False)
    (attempt,) = sent["attempts"]
    assert (attempt["url"], attempt["sent_headers"]) == (ADDRESS, kept["headers"])
    assert attempt["answer_headers"] == {"Content-Type": "text/plain", "Content-Length": "40"}
    assert json.loads(kept["body"])["data"]["code"] == "SO-000001"


async def test_a_failure_is_tried_again_and_what_waits_behind_it_comes_after_it(scene: Scene) -> None:
    await scene.make(answers="failure")
    await scene.shop.order(status="IN_LUCRU")
    await scene.settled()
    assert [each["status"] for each in await scene.log()] == ["pending", "held"]
    await scene.answer("success")
    await scene.later(31)
    received = (await scene.shown())["received"][::-1]
    assert [(each["event"], each["attempt"], each["is_repeated"]) for each in received] == [
        ("sales_order.created", 1, False),
        ("sales_order.created", 2, True),
        ("sales_order.status_changed", 1, False),
    ]
    assert [each["status"] for each in await scene.log()] == ["delivered", "delivered"]


async def test_one_that_is_sent_again_by_hand_is_overtaken(scene: Scene) -> None:
    await scene.make()
    await scene.shop.order(status="IN_LUCRU")
    await scene.settled()
    await scene.world.call("POST", "/api/v2/webhooks/1/deliveries/1/redeliver")
    await scene.settled()
    last = (await scene.shown())["received"][0]
    assert (last["event"], last["is_repeated"], last["is_overtaken"]) == ("sales_order.created", True, True)


async def test_410_switches_it_off_and_says_nothing_of_it_to_the_house(scene: Scene) -> None:
    """A test receiver that answers 410 is switched off.

    The receiver only plays being gone, so the service reports no error and writes no audit entry.
    """
    await scene.make(answers="gone")
    await scene.shop.order()
    await scene.settled()
    shown = await scene.shown()
    assert (shown["active"], shown["switched_off_because"]) == (False, "The receiver answered 410 Gone.")
    await scene.settled()
    assert scene.world.sender.switched_off == 0
    audited = await scene.world.installation.platform.read(
        lambda tx: tx.value("SELECT count(*) FROM audit WHERE action LIKE 'webhook.%'")
    )
    assert audited == 0


async def test_one_that_answers_late_holds_the_attempt(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(receiver_rules.REPLIES, "late", receiver_rules.Reply(200, "late", 0.2))
    await scene.make(answers="late")
    await scene.shop.order()
    await scene.settled()
    (delivery,) = await scene.log()
    assert delivery["status"] == "delivered"
    assert delivery["attempts"][0]["milliseconds"] >= 200


async def test_nobody_can_point_a_webhook_at_it_or_take_it_away_from_there(scene: Scene) -> None:
    body = {"name": "x", "secret": "0123456789abcdef" * 2, "events": ["*"]}
    for url in (ADDRESS, ADDRESS.upper(), f"{ADDRESS}/1", "https:" + ADDRESS):
        refused = await scene.world.call("POST", "/api/webhooks", {**body, "url": url}, status=422)
        assert set(refused.errors) == {"url"}
    await scene.make()
    for change in (
        {"url": "https://example.com"},
        {"secret": "0123456789abcdef" * 2},
        {"auth_type": "bearer", "token": "x"},
    ):
        refused = await scene.world.call("PATCH", "/api/webhooks/1", change, status=422)
        assert set(refused.errors) == set(change)
    rotate = "/api/v2/webhooks/1/rotate-secret"
    await scene.world.call("POST", rotate, {"secret": "0123456789abcdef" * 2}, status=422)
    shown = (await scene.world.call("GET", "/api/webhooks/1")).body
    assert shown["url"] == ADDRESS
    again = {"name": "Renamed", "url": ADDRESS, "events": ["*"], "active": True}
    assert (await scene.world.call("PUT", "/api/webhooks/1", again)).body["name"] == "Renamed"
    other = {**body, "url": "https://example.com/hook"}
    made = await scene.world.call("POST", "/api/webhooks", other, status=201)
    refused = await scene.world.call("PATCH", f"/api/webhooks/{made.id}", {"url": ADDRESS}, status=422)
    assert set(refused.errors) == {"url"}


async def test_its_secret_is_rotated_with_two_signatures(scene: Scene) -> None:
    await scene.make()
    before = (await scene.shown())["secret"]
    company = await scene.company()
    await scene.write(lambda tx: actions.rotate_webhook_receiver_secret.action(tx, 1, company))
    after = await scene.shown()
    assert (after["secret"] != before, after["previous_secret_expires_at"]) == (True, "2026-11-21T12:00:00.000Z")
    await scene.shop.order()
    await scene.settled()
    kept = await scene.write(lambda tx: actions.get_webhook_received.action(tx, 1, 1))
    body = kept["body"].encode()
    assert len(kept["headers"]["webhook-signature"].split(" ")) == 2
    for secret in (before, after["secret"]):
        assert has_valid_signature(secret, kept["headers"], body)


async def test_it_keeps_the_last_hundred_and_no_more_than_its_bytes(scene: Scene) -> None:
    await scene.make(events=["article.created"])
    headers = {"webhook-id": "e", "webhook-timestamp": "1", "webhook-signature": "v1,x"}

    def keep(tx: Transaction, body: bytes, times: int) -> list[tuple[int, int]]:
        for _ in range(times):
            assert store.keep(tx, 1, 1, headers, body, tx.now) == "success"
        return [(row[0], row[1]) for row in tx.rows("SELECT id, length(body) FROM webhook_received ORDER BY id")]

    kept = await scene.write(lambda tx: keep(tx, b"{}", 130))
    assert [id for id, _ in kept] == list(range(31, 131))
    kept = await scene.write(lambda tx: keep(tx, b"x" * 500_000, 60))
    assert len(kept) == receiver_rules.KEPT_BYTES // receiver_rules.KEPT_OF_BODY
    assert {size for _, size in kept} == {receiver_rules.KEPT_OF_BODY}
    detail = await scene.write(lambda tx: actions.get_webhook_received.action(tx, 1, kept[-1][0]))
    assert (detail["is_cut"], detail["body_bytes"], detail["secret"]) == (True, 500_000, None)


async def test_a_company_has_only_so_many(scene: Scene) -> None:
    for _ in range(receiver_rules.MOST):
        await scene.make()
    with pytest.raises(Problem, match="at most 5 test receivers"):
        await scene.make()
    await scene.world.call("DELETE", "/api/webhooks/1", status=204)
    await scene.make()


async def test_it_ends_after_a_week_with_all_that_it_has(scene: Scene) -> None:
    await scene.make()
    await scene.shop.order()
    await scene.settled()
    scene.world.clock.advance(timedelta(days=7).total_seconds() + 1)
    await scene.shop.order()
    await scene.settled()
    last = (await scene.log())[-1]["attempts"][0]
    assert (last["error"], last["response_status"]) == (receiver_rules.ENDED, None)
    for _ in range(2):
        assert await scene.write(store.end_old) in (0, 1)
    await scene.world.call("GET", "/api/webhooks/1", status=404)
    for table in ("webhook_receivers", "webhook_received", "webhook_hours"):
        assert await scene.write(lambda tx, table=table: tx.value(f"SELECT count(*) FROM {table}")) == 0


async def test_what_was_under_way_when_the_process_ended_comes_again(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as scene:
        await scene.make()
        received = asyncio.Event()
        real = receiver.receive_delivery

        async def cut_off(*arguments: Any) -> Any:
            await real(*arguments)
            received.set()
            await asyncio.Event().wait()

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("wmsd.events.webhooks.test_receivers.receiver.receive_delivery", cut_off)
            for _ in range(2):
                assert (await scene.shop.order()).status == 201
            await asyncio.wait_for(received.wait(), 10)
            await scene.world.sender.stop()
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        world.company = 1
        again = Scene(world, Shop(world))
        await world.sender.start()
        await again.settled()
        await world.sender.stop()
        shown = (await again.shown())["received"]
        assert [each["sequence"] for each in shown if each["is_repeated"]] == [1]
        assert await world.rows("SELECT DISTINCT status FROM webhook_deliveries") == [("delivered",)]


async def test_a_company_that_may_send_nothing_sends_nothing_here_either_and_says_so(scene: Scene) -> None:
    await scene.make()
    await scene.world.set_module("ACME", "webhooks", False)
    await scene.shop.order()
    await scene.settled()
    shown = await scene.shown()
    assert (shown["received"], shown["off_because"]) == ([], "The module webhooks is off.")


async def test_a_test_by_the_command_line_arrives_too(scene: Scene) -> None:
    """A test event that the command line sends arrives too. The command has a client of its own, and no sender."""
    await scene.make()
    installation = scene.world.installation
    company = (await installation.access.companies())[scene.world.company]
    database = await scene.world.database()
    note_result = await send_test(database, new_client(installation), installation.clock, 1, company)
    assert note_result is not None
    sent = await database.write(note_result)
    assert sent is not None
    assert json.loads(sent.json)["status"] == "delivered"
    assert [each["event"] for each in (await scene.shown())["received"]] == ["webhook.test"]


async def test_a_file_that_cannot_be_written_is_no_failure_of_the_receiver(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be written is no failure of the receiver.

    The problem is in the installation: no attempt is counted, and the delivery is tried again.
    """
    await scene.make()
    fails = [True]
    real = store.keep

    def keep(*arguments: Any, **named: Any) -> Any:
        if fails:
            fails.clear()
            raise OSError("disk I/O error")
        return real(*arguments, **named)

    monkeypatch.setattr(store, "keep", keep)
    await scene.shop.order()
    await scene.settled()
    await scene.later(2)
    (delivery,) = await scene.log()
    assert (delivery["status"], len(delivery["attempts"])) == ("delivered", 1)
