"""Tests of attempts: their waits, the order within an entity, and what ends the attempts."""

import asyncio
import json

import pytest

from tests.events.webhooks.hooks import SECRET, Hooks
from tests.support.receivers import MANNERS, Received, answer, hang
from wmsd.events.webhooks.deliveries import due_store
from wmsd.events.webhooks.sending.throttle import PER_SUBSCRIPTION

FAILS = MANNERS["/500"]
ORDER_MOVES = ("IN_LUCRU", "INCARCAT", "LIVRAT")


async def failing_order(hooks: Hooks, *events: str) -> None:
    await hooks.subscribe(*(events or ("sales_order.created",)), path="/500")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()


async def test_five_attempts_with_the_waits_of_the_specification(hooks: Hooks) -> None:
    await failing_order(hooks)
    for attempt, wait in enumerate((30, 120, 480, 1920), start=2):
        await hooks.later(wait - 1)
        assert len(hooks.received) == attempt - 1
        await hooks.later(1)
        assert len(hooks.received) == attempt
    await hooks.later(100_000)
    assert [each.headers["x-webhook-attempt"] for each in hooks.received] == ["1", "2", "3", "4", "5"]
    assert len({(each.headers["x-webhook-id"], each.body) for each in hooks.received}) == 1
    (delivery,) = await hooks.log()
    assert (delivery["status"], delivery["due_at"]) == ("exhausted", None)
    assert [
        (each["number"], each["at"], each["response_status"], each["response_body"])
        for each in delivery["attempts"]
    ] == [
        (1, "2026-11-20T12:00:00.000Z", 500, "broken"),
        (2, "2026-11-20T12:00:30.000Z", 500, "broken"),
        (3, "2026-11-20T12:02:30.000Z", 500, "broken"),
        (4, "2026-11-20T12:10:30.000Z", 500, "broken"),
        (5, "2026-11-20T12:42:30.000Z", 500, "broken"),
    ]
    shown = await hooks.subscription()
    assert shown["failing_since"] == "2026-11-20T12:00:00.000Z"
    assert shown["last_delivery"] == {
        "id": 1,
        "event": "sales_order.created",
        "status": "exhausted",
        "attempted_at": "2026-11-20T12:42:30.000Z",
        "response_status": 500,
        "error": None,
    }


@pytest.mark.parametrize(
    "path", ["/400", "/500", "/301?https://127.0.0.1/", "/308?/200", "/reset", "/hang-up", "/garbage"]
)
async def test_all_but_2xx_is_a_failure(hooks: Hooks, path: str) -> None:
    await hooks.subscribe("sales_order.created", path=path)
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    assert await hooks.statuses() == ["pending"]


@pytest.mark.parametrize("path", ["/200", "/204", "/longer", "/chunks", "/bomb"])
async def test_every_2xx_is_success_whatever_comes_with_it(hooks: Hooks, path: str) -> None:
    await hooks.subscribe("sales_order.created", path=path)
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    (delivery,) = await hooks.log()
    assert delivery["status"] == "delivered"
    assert len((delivery["attempts"][0]["response_body"] or "").encode()) <= 3 * 2048


async def test_a_success_after_failures_begins_anew(hooks: Hooks) -> None:
    hooks.receiver.script = [FAILS, FAILS]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.later(31)
    await hooks.later(121)
    (delivery,) = await hooks.log()
    assert delivery["status"] == "delivered"
    assert [each["response_status"] for each in delivery["attempts"]] == [500, 500, 200]
    assert (await hooks.subscription())["failing_since"] is None


async def test_the_log_tells_when_it_begins_to_fail_and_when_it_works_again(
    hooks: Hooks, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "wmsd.webhooks")
    hooks.receiver.script = [FAILS, FAILS, MANNERS["/200"], FAILS, MANNERS["/200"], FAILS]
    await hooks.subscribe("sales_order.created")
    for wait in (0, 31, 121):
        if wait == 0:
            await hooks.shop.order()
        await hooks.later(wait)
    await hooks.shop.order()
    await hooks.later(31)
    assert [record.getMessage() for record in caplog.records] == [
        "webhook 1 of ACME fails: the receiver answered with status 500",
        "webhook 1 of ACME works again",
    ]
    hooks.world.clock.advance(3600)
    await hooks.shop.order()
    await hooks.later(0)
    assert caplog.records[-1].getMessage() == "webhook 1 of ACME fails: the receiver answered with status 500"


async def test_events_of_an_entity_wait_for_the_one_that_fails(hooks: Hooks) -> None:
    hooks.receiver.script = [FAILS, FAILS]
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.shop.order()
    await hooks.received_count(1)
    for status in ORDER_MOVES:
        await hooks.world.send("PATCH", "/api/sales-orders/1", {"status": status})
    await hooks.later(31)
    assert len(hooks.received) == 2
    assert await hooks.statuses() == ["pending", "held", "held", "held"]
    await hooks.later(121)
    await hooks.received_count(6)
    assert [json.loads(each.body)["data"]["status"] for each in hooks.received[2:]] == ["CREAT", *ORDER_MOVES]
    await hooks.settled()
    assert set(await hooks.statuses()) == {"delivered"}


async def test_an_exhausted_one_lets_the_next_go(hooks: Hooks) -> None:
    hooks.receiver.script = [FAILS] * 5
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.shop.order(status="IN_LUCRU")
    for wait in (0, 31, 121, 481, 1921):
        await hooks.later(wait)
    await hooks.received_count(6)
    await hooks.settled()
    assert await hooks.statuses() == ["exhausted", "delivered"]
    assert hooks.received[-1].headers["x-webhook-sequence"] == "2"


async def test_a_failing_one_holds_back_no_other_entity_and_no_other_subscription(hooks: Hooks) -> None:
    hooks.receiver.script = [FAILS]
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.subscribe("sales_order.status_changed", path="/204")
    await hooks.world.send("PATCH", "/api/sales-orders/1", {"status": "IN_LUCRU"})
    await hooks.received_count(2)
    assert hooks.received[1].path == "/204"
    await hooks.shop.order()
    await hooks.received_count(3)
    assert json.loads(hooks.received[2].body)["data"]["id"] == 2


async def test_a_clock_that_leaps_a_year_switches_nothing_off(hooks: Hooks) -> None:
    await failing_order(hooks)
    await hooks.later(365 * 86_400)
    assert len(hooks.received) == 2
    hooks.world.clock.set_back(365 * 86_400)  # otherwise its token would be too old
    assert (await hooks.subscription())["active"]


async def test_a_clock_set_back_a_year_delays_by_no_more_than_the_back_off(hooks: Hooks) -> None:
    await failing_order(hooks)
    hooks.world.clock.set_back(365 * 86_400)
    await hooks.later(0)
    assert len(hooks.received) == 1
    await hooks.later(29)
    assert len(hooks.received) == 1
    await hooks.later(2)
    assert len(hooks.received) == 2


async def test_a_clock_that_leaps_starts_no_storm(hooks: Hooks) -> None:
    """A clock that jumps starts no storm. Each jump may bring forward one attempt of each delivery, never more."""
    await failing_order(hooks)
    for count, leap in enumerate((365 * 86_400, -365 * 86_400, 86_400), start=2):
        hooks.world.clock.advance(max(leap, 0))
        hooks.world.clock.set_back(max(-leap, 0))
        for _ in range(5):
            await hooks.sender.tick()
            await hooks.settled()
        assert len(hooks.received) <= count


async def test_a_clock_that_was_set_back_while_the_service_was_down(hooks: Hooks) -> None:
    await failing_order(hooks)
    await hooks.sender.stop()
    hooks.world.clock.set_back(365 * 86_400)
    await hooks.sender.start()
    await hooks.settled()
    assert len(hooks.received) == 1
    await hooks.later(31)
    assert len(hooks.received) == 2


async def test_what_was_due_while_it_was_down_is_sent_when_it_starts(hooks: Hooks) -> None:
    await failing_order(hooks)
    await hooks.sender.stop()
    await hooks.shop.order()
    hooks.world.clock.advance(31)
    assert len(hooks.received) == 1
    await hooks.sender.start()
    await hooks.received_count(3)


async def test_what_was_cut_off_is_sent_again_with_the_same_id(hooks: Hooks) -> None:
    hooks.receiver.script = [hang]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.sender.stop()
    assert await hooks.statuses() == ["pending"]
    assert (await hooks.log())[0]["attempts"] == []
    await hooks.sender.start()
    await hooks.received_count(2)
    first, second = hooks.received
    assert first.headers["x-webhook-id"] == second.headers["x-webhook-id"]
    assert first.body == second.body


async def test_what_another_process_has_written_is_noticed(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    hooks.world.installation.files.after_commit = None
    database = await hooks.world.database()
    database.after_commit = None
    await hooks.shop.order()
    assert hooks.received == []
    await hooks.sender.tick()
    await hooks.received_count(1)


async def test_a_hanging_receiver_holds_only_its_own(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/hang")
    await hooks.subscribe("sales_order.created", path="/204")
    for _ in range(10):
        await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    await hooks.until(lambda: sum(each.path == "/204" for each in hooks.received) == 10)
    assert sum(each.path == "/hang" for each in hooks.received) == 1


async def test_no_more_are_under_way_than_the_bounds_say(hooks: Hooks) -> None:
    """No more attempts run than the bounds allow, with a slow receiver and more deliveries than may
    run together.
    """
    under_way, most = 0, 0

    async def slow(writer: asyncio.StreamWriter, received: Received) -> bool:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02)
        under_way -= 1
        return await answer()(writer, received)

    hooks.receiver.script = [slow] * 300
    await hooks.subscribe("article.created")
    rows = "".join(f"N{number:03},Article\n" for number in range(300))
    await hooks.world.import_csv("articles", f"code,name\n{rows}")
    await hooks.received_count(300)
    assert most == PER_SUBSCRIPTION


async def test_off_by_module_is_skipped_and_can_be_sent_later(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.world.set_module("ACME", "webhooks", False)
    await hooks.shop.order(status="IN_LUCRU")
    await hooks.settled()
    await hooks.world.set_module("ACME", "webhooks", True)
    assert hooks.received == []
    log = await hooks.log()
    assert [(each["status"], each["skipped_because"]) for each in log] == [
        ("skipped", "The module webhooks is off.")
    ] * 2
    await hooks.world.call("POST", "/api/v2/webhooks/1/deliveries/2/redeliver")
    await hooks.received_count(1)
    assert hooks.received[0].headers["x-webhook-sequence"] == "2"


async def test_what_was_skipped_in_part_leaves_nothing_held_for_ever(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deliveries that were skipped in part leave none held for ever.

    The process stops between some and the rest. When it runs again, the module is on.
    """
    await failing_order(hooks, "sales_order.created", "sales_order.status_changed")
    for status in ORDER_MOVES:
        await hooks.world.send("PATCH", "/api/sales-orders/1", {"status": status})
    monkeypatch.setattr(due_store, "AT_ONCE", 2)
    await (await hooks.world.database()).write(lambda tx: due_store.skip_all(tx, "The module was off."))
    assert await hooks.statuses() == ["pending", "held", "skipped", "skipped"]
    await hooks.change(url=hooks.receiver.url("/200"))
    await hooks.later(31)
    assert await hooks.statuses() == ["delivered", "delivered", "skipped", "skipped"]


async def test_who_subscribes_in_a_sandbox_is_warned_that_nothing_is_sent(hooks: Hooks) -> None:
    platform = hooks.world.installation.platform
    await platform.write(lambda tx: tx.execute("UPDATE companies SET sandbox = 1"))
    sentence = (
        "The company is a sandbox, and webhooks are not switched on for the sandboxes of its operator. "
        "Until a platform admin changes "
        "this setting, wmsd sends no webhooks."
    )
    body = {"name": "ERP", "url": hooks.receiver.url("/200"), "events": ["*"], "secret": "x" * 16}
    made = await hooks.world.call("POST", "/api/webhooks", body, status=201)
    assert made.body["warnings"] == [
        "The secret is short. Use at least 32 random characters.",
        sentence,
    ]
    changed = await hooks.world.call(
        "PATCH", "/api/webhooks/1", {"secret": SECRET}, headers={"If-Match": made.headers["ETag"]}
    )
    assert changed.body["warnings"] == [sentence]
    assert (await hooks.subscription())["warnings"] == [sentence]
    for path in ("/api/webhooks", "/api/v2/webhooks"):
        assert (await hooks.world.call("GET", path)).body["data"][0]["warnings"] == [sentence]
    await platform.write(lambda tx: tx.execute("UPDATE companies SET sandbox = 0"))
    assert (await hooks.subscription())["warnings"] == []
    await hooks.world.call("DELETE", "/api/webhooks/1", status=204)


async def test_a_sandbox_sends_when_its_operator_allows_it_and_says_so(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.world.new_operator("BOX", sandbox=True)
    platform = hooks.world.installation.platform
    await platform.write(lambda tx: tx.execute("UPDATE companies SET operator_id = 1"))
    await hooks.shop.order()
    await hooks.settled()
    assert hooks.received == []
    assert (await hooks.log())[0]["skipped_because"] is not None
    await hooks.world.call("POST", "/api/v2/webhooks/1/test", status=403)
    await platform.write(lambda tx: tx.execute("UPDATE operators SET sandbox_webhooks = 1"))
    await hooks.shop.order()
    await hooks.received_count(1)
    assert hooks.received[0].headers["x-threepl-sandbox"] == "true"
