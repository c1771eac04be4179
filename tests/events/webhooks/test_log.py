"""Tests of the webhook log, and of sending deliveries again."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.events.webhooks.hooks import Hooks, open_hooks
from tests.support.authority import Authority
from tests.support.receivers import MANNERS, answer
from wmsd.events.webhooks.deliveries import redelivery
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter
from wmsd.events.webhooks.deliveries.redelivery import FAILED, send_range
from wmsd.events.webhooks.deliveries.schema import CLOSED_STATUSES

DELIVERIES = "/api/v2/webhooks/1/deliveries"
LONG_AGO, NEVER = "2000-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"


async def exhausted(hooks: Hooks, *events: str) -> None:
    """Create a subscription, and an order whose first delivery is exhausted."""
    hooks.receiver.script = [MANNERS["/500"]] * 5
    await hooks.subscribe(*(events or ("sales_order.created",)))
    await hooks.shop.order()
    for wait in (0, 31, 121, 481, 1921):
        await hooks.later(wait)
    assert await hooks.statuses() == ["exhausted"]


async def redeliver(hooks: Hooks, statuses: tuple[str, ...] = CLOSED_STATUSES) -> int:
    chosen = DeliveryFilter(1, statuses, since=LONG_AGO, until=NEVER)
    sent = await (await hooks.world.database()).write(lambda tx: send_range(tx, chosen, 0))
    return len(sent.ids)


async def test_a_walk_shows_the_newest_first_with_its_attempts(hooks: Hooks) -> None:
    await hooks.subscribe("article.created")
    await hooks.world.import_csv("articles", "code,name\n" + "".join(f"N{n},Article\n" for n in range(5)))
    await hooks.received_count(5)
    await hooks.settled()
    seen, cursor = [], None
    while True:
        at = f"&cursor={cursor}" if cursor else ""
        page = (await hooks.world.call("GET", f"{DELIVERIES}?per_page=2{at}")).body
        seen += page["data"]
        if (cursor := page["next_cursor"]) is None:
            break
    assert [each["sequence"] for each in seen] == [5, 4, 3, 2, 1]
    for each in seen:
        assert [attempt["response_body"] for attempt in each["attempts"]] == ["ok"]
        assert each["attempts"][0]["milliseconds"] >= 0


async def test_the_log_is_filtered_by_status_and_time(hooks: Hooks) -> None:
    await exhausted(hooks)
    hooks.world.clock.advance(3600)
    await hooks.shop.order()
    await hooks.received_count(6)
    await hooks.settled()
    assert await hooks.statuses() == ["exhausted", "delivered"]
    assert [each["id"] for each in await hooks.log(query="&status=exhausted,pending")] == [1]
    assert [each["id"] for each in await hooks.log(query="&status=delivered")] == [2]
    assert [each["id"] for each in await hooks.log(query="&since=2026-11-20T12:30:00Z")] == [2]
    answer = await hooks.world.call("GET", f"{DELIVERIES}?status=lost&since=yesterday", status=422)
    assert set(answer.errors) == {"status", "since"}
    shown = await hooks.world.call("GET", f"{DELIVERIES}?per_page=1")
    cursor = shown.body["next_cursor"]
    await hooks.world.call("GET", f"{DELIVERIES}?per_page=1&cursor={cursor}&status=delivered", status=422)


async def test_the_log_is_filtered_by_event_record_and_the_end_of_a_time(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "stock.updated")
    await hooks.shop.order()
    hooks.world.clock.advance(3600)
    await hooks.shop.order()
    await hooks.settled()
    for query, found in (
        ("event=stock.updated", [2, 4]),
        ("event=stock.updated,sales_order.created", [1, 2, 3, 4]),
        ("record=sales_order:2", [3]),
        ("record=2", [3]),
        ("record=sales_order:1,stock:1&status=delivered", [1, 2, 4]),
        ("until=2026-11-20T12:30:00Z", [1, 2]),
        ("record=" + ",".join(map(str, range(1, 21))), [1, 2, 3, 4]),
    ):
        log = await hooks.log(query=f"&{query}")
        assert [each["sequence"] for each in log] == found, query
    assert {each["entity"] for each in log} == {"sales_order", "stock"}
    many = "record=" + ",".join("1" * 21)
    for wrong in ("record=0x1", "record=", "record=nobody:1", many, "event=lost", "until=x"):
        refused = await hooks.world.call("GET", f"{DELIVERIES}?{wrong}", status=422)
        assert set(refused.errors) == {wrong.partition("=")[0]}


async def test_a_range_of_events_records_and_statuses_is_sent_again(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "stock.updated")
    for _ in range(2):
        await hooks.shop.order()
    await hooks.settled()
    path, since = "/api/v2/webhooks/1/redeliver", LONG_AGO
    for fields, count in (
        ({"event": ["stock.updated"]}, 2),
        ({"record": "sales_order:2"}, 1),
        ({"status": ["exhausted"]}, 0),
        ({"status": ["delivered"], "failed": True}, 0),
        ({"event": ["stock.updated"], "record": "sales_order:2"}, 0),
    ):
        sent = await hooks.world.call("POST", path, {"since": since, **fields})
        assert sent.body == {"deliveries": count, "next_after": None}, fields
        await hooks.settled()
    assert len(hooks.received) == 4 + 3
    refused_ones: tuple[dict[str, Any], ...] = (
        {"event": ["webhook.test"]},
        {"event": []},
        {"status": ["pending"]},
        {"record": "x"},
        {"record": 1},
    )
    for wrong in refused_ones:
        refused = await hooks.world.call("POST", path, {"since": since, **wrong}, status=422)
        assert {name.partition(".")[0] for name in refused.errors} == set(wrong)


async def test_of_an_answer_the_first_2_kb_are_kept_as_text(hooks: Hooks) -> None:
    hooks.receiver.script = [answer(400, b"\xff\x00 " + b"x" * 5000)]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    kept = (await hooks.log())[0]["attempts"][0]["response_body"]
    assert kept == "\ufffd\ufffd " + "x" * 2045


async def test_an_installation_may_keep_no_answers(tmp_path: Path, authority: Authority) -> None:
    """An installation may store no answers, of events and of tests.

    The status of the receiver is reported nevertheless.
    """
    async with open_hooks(tmp_path / "data", authority, keep_answers=False) as hooks:
        for path, status in (("/200", "delivered"), ("/500", "pending")):
            webhook = await hooks.subscribe("article.created", path=path)
            await hooks.world.call("POST", f"/api/v2/webhooks/{webhook}/test")
            await hooks.world.send("POST", "/api/articles", {"code": path[1:], "name": "x"})
            await hooks.settled()
            log = await hooks.log(webhook)
            assert log[-1]["status"] == status
            for delivery in log:
                (attempt,) = delivery["attempts"]
                assert attempt["response_status"] == int(path[1:])
                assert attempt["response_body"] is None
                assert attempt["milliseconds"] >= 0


async def test_an_exhausted_one_is_sent_again_by_hand(hooks: Hooks) -> None:
    await exhausted(hooks)
    answered = await hooks.world.call("POST", f"{DELIVERIES}/1/redeliver")
    assert answered.body["status"] == "pending"
    await hooks.received_count(6)
    await hooks.settled()
    (delivery,) = await hooks.log()
    assert delivery["status"] == "delivered"
    assert [each["number"] for each in delivery["attempts"]] == [1, 2, 3, 4, 5, 6]
    assert len({(each.headers["x-webhook-id"], each.body) for each in hooks.received}) == 1
    assert hooks.received[-1].headers["x-webhook-attempt"] == "6"


async def test_what_is_sent_again_has_five_attempts_anew(hooks: Hooks) -> None:
    await exhausted(hooks)
    hooks.receiver.script = [MANNERS["/500"]] * 5
    await hooks.world.call("POST", f"{DELIVERIES}/1/redeliver")
    await hooks.received_count(6)
    for wait in (30, 120, 480):
        await hooks.later(wait)
        assert await hooks.statuses() == ["pending"]
    await hooks.later(1920)
    assert await hooks.statuses() == ["exhausted"]
    assert len(hooks.received) == 10


async def test_what_was_delivered_can_be_sent_again_and_what_waits_is_sent_now(hooks: Hooks) -> None:
    hooks.receiver.script = [MANNERS["/200"], MANNERS["/500"]]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.shop.order()
    await hooks.received_count(2)
    await hooks.settled()
    for delivery in (1, 2):
        await hooks.world.call("POST", f"{DELIVERIES}/{delivery}/redeliver")
    await hooks.received_count(4)
    await hooks.settled()
    assert await hooks.statuses() == ["delivered", "delivered"]


async def test_a_key_sends_once(hooks: Hooks) -> None:
    await exhausted(hooks)
    for _ in range(2):
        await hooks.world.call("POST", f"{DELIVERIES}/1/redeliver", headers={"Idempotency-Key": "k"})
        await hooks.settled()
    assert len(hooks.received) == 6


async def test_deliveries_of_another_subscription_are_not_found(hooks: Hooks) -> None:
    await exhausted(hooks)
    await hooks.subscribe("sales_order.created")
    await hooks.world.call("POST", "/api/v2/webhooks/2/deliveries/1/redeliver", status=404)
    await hooks.world.call("POST", f"{DELIVERIES}/99/redeliver", status=404)
    assert await hooks.log(2) == []


async def test_a_range_is_sent_again_in_the_order_of_each_entity(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.shop.order(status="LIVRAT")
    await hooks.shop.order(status="IN_LUCRU")
    await hooks.received_count(6)
    await hooks.settled()
    assert await redeliver(hooks) == 6
    await hooks.received_count(12)
    await hooks.settled()
    again = [json.loads(each.body)["data"] for each in hooks.received[6:]]
    assert [each["status"] for each in again if each["id"] == 1] == ["CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT"]
    assert [each["status"] for each in again if each["id"] == 2] == ["CREAT", "IN_LUCRU"]
    assert set(await hooks.statuses()) == {"delivered"}


async def test_a_range_that_begins_in_the_future_is_told_by_the_field_that_was_sent(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    path, since = "/api/v2/webhooks/1/redeliver", "2030-01-01T00:00:00Z"
    refused = await hooks.world.call("POST", path, {"since": since}, status=422)
    assert refused.errors == {"since": ["is in the future"]}
    refused = await hooks.world.call("POST", path, {"since": since, "until": LONG_AGO}, status=422)
    assert refused.errors == {"until": ["must not be earlier than `since`"]}


async def test_a_range_is_sent_again_over_rest(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    await exhausted(hooks)
    hooks.world.clock.advance(60)
    for _ in range(3):
        await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    await hooks.received_count(8)
    await hooks.settled()
    path, since = "/api/v2/webhooks/1/redeliver", LONG_AGO
    answer = await hooks.world.call("POST", path, {"since": since, "failed": True})
    assert answer.body == {"deliveries": 1, "next_after": None}
    await hooks.received_count(9)
    await hooks.settled()
    assert hooks.received[-1].headers["x-webhook-sequence"] == "1"
    answer = await hooks.world.call("POST", path, {"since": since, "until": "2026-11-20T12:30:00Z"})
    assert answer.body == {"deliveries": 1, "next_after": None}
    await hooks.received_count(10)
    await hooks.settled()
    monkeypatch.setattr(redelivery, "AT_ONCE", 3)
    first = (await hooks.world.call("POST", path, {"since": since})).body
    assert first["deliveries"] == 3
    rest = (await hooks.world.call("POST", path, {"since": since, "after": first["next_after"]})).body
    assert rest == {"deliveries": 1, "next_after": None}
    await hooks.received_count(14)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"since": ["is required"]}),
        (
            {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
            {"until": ["must not be earlier than `since`"]},
        ),
    ],
)
async def test_a_range_that_is_none_is_refused(hooks: Hooks, body: Any, errors: Any) -> None:
    await hooks.subscribe("sales_order.created")
    answer = await hooks.world.call("POST", "/api/v2/webhooks/1/redeliver", body, status=422)
    assert answer.errors == errors
    await hooks.world.call("POST", "/api/v2/webhooks/9/redeliver", {"since": LONG_AGO}, status=404)


async def test_of_a_range_only_what_failed(hooks: Hooks) -> None:
    await exhausted(hooks)
    await hooks.shop.order()
    await hooks.received_count(6)
    await hooks.settled()
    assert await redeliver(hooks, statuses=FAILED) == 1
    await hooks.received_count(7)
    assert hooks.received[-1].headers["x-webhook-sequence"] == "1"


async def test_a_range_goes_behind_what_is_still_open(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "sales_order.status_changed")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    hooks.receiver.script = [MANNERS["/500"]]
    await hooks.world.send("PATCH", "/api/sales-orders/1", {"status": "IN_LUCRU"})
    await hooks.received_count(2)
    await hooks.settled()
    await redeliver(hooks)
    await hooks.received_count(3)
    await hooks.settled()
    assert await hooks.statuses() == ["delivered", "pending"]
    assert hooks.received[-1].headers["x-webhook-sequence"] == "1"
    await hooks.later(31)
    assert await hooks.statuses() == ["delivered", "delivered"]


async def test_the_log_is_kept_for_30_days_and_what_is_open_for_as_long_as_it_is(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    await hooks.change(active=False, url=hooks.receiver.url("/500"))
    await hooks.change(active=True)
    await hooks.shop.order()
    await hooks.received_count(2)
    await hooks.settled()
    await hooks.change(active=False)
    hooks.world.clock.advance(29 * 86_400)
    await hooks.world.jobs.tidy_files()
    assert await hooks.statuses() == ["delivered", "pending"]
    hooks.world.clock.advance(2 * 86_400)
    await hooks.world.jobs.tidy_files()
    assert await hooks.statuses() == ["pending"]


async def test_what_is_open_when_its_event_is_forgotten_is_skipped(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", "sales_order.status_changed", path="/500")
    await hooks.shop.order(status="IN_LUCRU")
    await hooks.received_count(1)
    await hooks.settled()
    await hooks.change(active=False)
    await (await hooks.world.database()).write(lambda tx: tx.execute("DELETE FROM events"))
    await hooks.change(active=True)
    await hooks.later(31)
    await hooks.later(31)
    log = await hooks.log()
    assert [each["skipped_because"] for each in log] == ["The event is no longer stored."] * 2
    assert len(hooks.received) == 1
