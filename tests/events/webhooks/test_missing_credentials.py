"""Tests of deliveries whose credentials cannot be decrypted: they wait, and are sent in order when the credentials
are set again.
"""

import asyncio
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.events.webhooks.hooks import LONGEST, SECRET, Hooks
from tests.support.receivers import Received
from wmsd.base.vault import Vault
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks import missing_credentials
from wmsd.events.webhooks.checks import CHECKS
from wmsd.events.webhooks.deliveries import due_store
from wmsd.events.webhooks.figures import list_webhook_figures
from wmsd.events.webhooks.test_receivers.actions import make_webhook_receiver
from wmsd.events.webhooks.test_receivers.schema import NewReceiver
from wmsd.server.today.figures import read as read_figures

OTHER = Vault("the key of before the disaster")
CODE = "credentials_missing"
FOUND_AT = "2026-11-20T12:00:00.000Z"
NEW = "n" * 40


async def seal_with_lost_key(hooks: Hooks, id: int = 1) -> None:
    """Leave a subscription as a restore without the keys does."""
    sealed = OTHER.seal(json.dumps({"secret": SECRET}))
    await (await hooks.world.database()).write(
        lambda tx: tx.execute("UPDATE webhook_subscriptions SET credentials = ? WHERE id = ?", (sealed, id))
    )
    await hooks.settled()


async def is_noticed(hooks: Hooks) -> None:
    """Wait until the sender has noticed the credentials that cannot be decrypted."""
    end = time.monotonic() + LONGEST
    while (await hooks.subscription())["credentials_missing_since"] is None:
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def told(received: list[Received]) -> dict[int, list[str]]:
    """Return the events of each record, in the order in which they arrived."""
    found: dict[int, list[str]] = {}
    for each in received:
        found.setdefault(json.loads(each.body)["data"]["id"], []).append(each.headers["x-webhook-event"])
    return found


async def order_in_work(hooks: Hooks) -> int:
    return (await hooks.shop.order({"article_id": 1, "quantity": 0.1}, status="IN_LUCRU")).id


async def test_deliveries_wait_use_no_attempt_and_go_out_in_order(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await seal_with_lost_key(hooks)
    orders = [await order_in_work(hooks) for _ in range(3)]
    await is_noticed(hooks)
    await hooks.later(86_400 * 6)
    assert not hooks.received
    log = await hooks.log()
    assert [(each["status"], each["waits_because"]) for each in log] == 3 * [("pending", CODE), ("held", CODE)]
    assert all(not each["attempts"] for each in log)
    shown = await hooks.subscription()
    assert (shown["active"], shown["has_secret"], shown["last_delivery"]) == (True, False, None)
    assert shown["credentials_missing_since"] == FOUND_AT
    assert missing_credentials.WARNING in shown["warnings"]

    shown = (await hooks.change(secret=NEW)).body
    assert (shown["has_secret"], shown["credentials_missing_since"], shown["warnings"]) == (True, None, [])
    await hooks.received_count(6)
    await hooks.settled()
    assert {each.headers["x-webhook-attempt"] for each in hooks.received} == {"1"}
    assert told(hooks.received) == {key: ["sales_order.created", "sales_order.status_changed"] for key in orders}
    assert [(each["status"], each["waits_because"]) for each in await hooks.log()] == 6 * [("delivered", None)]


async def test_what_waits_holds_up_no_other_and_costs_nothing(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.subscribe("sales_order.created")
    await seal_with_lost_key(hooks)
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    assert (await hooks.statuses(1), await hooks.statuses(2)) == (["pending"], ["delivered"])
    await hooks.later(60)
    looks = counted(monkeypatch)
    for _ in range(20):
        await hooks.later(60)
    assert not looks


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows with each scan of a company's file."""
    looks: list[Any] = []
    real: Callable[[Transaction], Any] = due_store.outlooks

    def outlooks(tx: Transaction) -> Any:
        looks.append(tx)
        return real(tx)

    monkeypatch.setattr(due_store, "outlooks", outlooks)
    return looks


async def test_the_counts_know_the_reason(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await seal_with_lost_key(hooks)
    await order_in_work(hooks)
    await hooks.settled()
    database = await hooks.world.database()
    [missing] = await database.read(missing_credentials.missing)
    assert missing == (1, "ERP", hooks.receiver.url("").removeprefix("https://").rstrip("/"), FOUND_AT)
    found = await database.read(lambda tx: read_figures(tx, "2026-11-20", "2026-11"))
    assert (found.waiting, found.without_credentials, found.given_up) == (2, 2, 0)
    [fares] = json.loads((await database.read(lambda tx: list_webhook_figures.action(tx))).json)["data"]
    assert (fares["pending"], fares["held"], fares["exhausted"]) == (1, 1, 0)
    assert fares["credentials_missing_since"] == FOUND_AT
    await hooks.world.jobs.keep_today()
    shown = await hooks.world.installation.platform.read(
        lambda tx: tx.rows("SELECT kind, subject, name FROM recovery_entries WHERE done_at IS NULL")
    )
    assert shown == [("webhook", "ACME", "ERP")]
    for each in CHECKS:
        assert await database.read(partial(differing, statement=each.differing)) == []


def differing(tx: Transaction, statement: str) -> list[Any]:
    return list(tx.rows(statement))


async def test_a_wait_survives_a_restart(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await seal_with_lost_key(hooks)
    await hooks.shop.order()
    await hooks.settled()
    await hooks.sender.stop()
    await hooks.sender.start()
    await hooks.settled()
    assert not hooks.received
    await hooks.change(secret=NEW)
    await hooks.received_count(1)


async def test_time_of_waiting_is_no_time_of_failing(hooks: Hooks) -> None:
    """The time of waiting does not count as failing.

    Otherwise the webhook would be switched off after five days, and later events would not be queued.
    """
    await hooks.subscribe("sales_order.created", path="/500")
    await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    await hooks.settled()
    await seal_with_lost_key(hooks)
    for _ in range(20):
        await hooks.later(12 * 3600)
        await hooks.world.jobs.tidy_files()
    await hooks.change(secret=NEW)
    await hooks.settled()
    await hooks.world.jobs.tidy_files()
    assert (await hooks.subscription())["active"]


async def test_it_can_be_changed_but_for_its_credentials(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await seal_with_lost_key(hooks)
    await hooks.shop.order()
    await hooks.settled()
    assert (await hooks.change(active=False)).body["active"] is False
    assert (await hooks.change(active=True, name="Shop")).body["credentials_missing_since"] == FOUND_AT
    await hooks.world.call("PATCH", "/api/webhooks/1", {"token": "t"}, status=422)
    await hooks.settled()
    assert not hooks.received
    await hooks.change(auth_type="bearer", token="t")
    await hooks.received_count(1)
    assert hooks.received[0].headers["authorization"] == "Bearer t"


async def test_a_test_is_refused_and_leaves_no_delivery(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await seal_with_lost_key(hooks)
    answer = await hooks.world.call("POST", "/api/v2/webhooks/1/test", status=409)
    assert answer.body["message"] == missing_credentials.NOT_SENT
    assert await hooks.log() == []
    assert (await hooks.subscription())["credentials_missing_since"] == FOUND_AT


async def test_a_delivery_that_is_sent_again_waits_too(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    await seal_with_lost_key(hooks)
    await hooks.world.call("POST", "/api/v2/webhooks/1/deliveries/1/redeliver")
    await hooks.settled()
    [again] = await hooks.log()
    assert (again["status"], again["waits_because"], len(again["attempts"])) == ("pending", CODE, 1)
    await hooks.change(secret=NEW)
    await hooks.received_count(2)


async def test_a_test_receiver_gets_a_new_secret_by_itself(hooks: Hooks) -> None:
    body, company = (
        validate_model(NewReceiver, {"events": ["sales_order.created"]}),
        (await hooks.world.installation.access.companies())[1],
    )
    database = await hooks.world.database()
    made = await database.write(lambda tx: make_webhook_receiver.action(tx, body, company))
    await seal_with_lost_key(hooks, made.id)
    await hooks.shop.order()
    await hooks.settled()
    [delivered] = await hooks.log(made.id)
    assert delivered["status"] == "delivered"
    assert (await hooks.subscription(made.id))["credentials_missing_since"] is None


async def test_a_look_finds_what_is_lost_and_what_is_not(hooks: Hooks) -> None:
    """A scan finds the credentials that are lost, also if nothing is due and if the webhook is off."""
    for active in (True, False, True):
        await hooks.subscribe("sales_order.created", active=active)
    for id in (1, 2):
        await seal_with_lost_key(hooks, id)
    database = await hooks.world.database()
    await database.write(missing_credentials.note_missing_credentials)
    found = [each.subscription_id for each in await database.read(missing_credentials.missing)]
    assert found == [1, 2]
    kept = hooks.world.installation.vault.seal(json.dumps({"secret": SECRET}))
    await database.write(
        lambda tx: tx.execute("UPDATE webhook_subscriptions SET credentials = ? WHERE id = 2", (kept,))
    )
    await database.write(missing_credentials.note_missing_credentials)  # as after a restore with the keys
    found = [each.subscription_id for each in await database.read(missing_credentials.missing)]
    assert found == [1]
