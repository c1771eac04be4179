"""Tests of the event log: a client that was away loses nothing of the last 90 days."""

from datetime import timedelta

import pytest

from tests.support.shop import Shop
from wmsd.events.outbox.store import forget_old

PATH = "/api/v2/events"


async def walked(shop: Shop, query: str = "", per_page: int = 2) -> list[str]:
    names, cursor = [], None
    while True:
        at = f"&cursor={cursor}" if cursor else ""
        page = (await shop.world.call("GET", f"{PATH}?per_page={per_page}{query}{at}")).body
        names += [event["event"] for event in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return names


async def test_events_come_in_the_order_in_which_they_happened(shop: Shop) -> None:
    await shop.order()
    await shop.world.send("PATCH", "/api/sales-orders/1", {"status": "ANULAT"})
    expected = [name for name, _ in await shop.world.events_after(0)]
    assert await walked(shop) == expected
    assert expected[-4:] == ["sales_order.created", "stock.updated", "sales_order.status_changed", "stock.updated"]


async def test_an_event_has_what_a_webhook_is_sent(shop: Shop) -> None:
    order = await shop.order()
    (event,) = (await shop.world.call("GET", f"{PATH}?event=sales_order.created")).body["data"]
    assert set(event) == {"id", "event", "timestamp", "entity_id", "data"}
    assert (event["event"], event["timestamp"]) == ("sales_order.created", "2026-11-20T12:00:00.000Z")
    assert (event["entity_id"], event["data"]) == (order.id, order.body)


async def test_a_walk_goes_on_later_after_the_last_event_that_one_has(shop: Shop) -> None:
    await shop.order()
    last = (await shop.world.call("GET", f"{PATH}?per_page=500")).body["data"][-1]["id"]
    assert await walked(shop, f"&after={last}") == []
    await shop.order()
    assert await walked(shop, f"&after={last}") == ["sales_order.created", "stock.updated"]
    assert await walked(shop, f"&after={last}&event=stock.low,stock.updated", per_page=1) == ["stock.updated"]
    answer = await shop.world.call("GET", f"{PATH}?after=nothing", status=422)
    assert answer.errors == {
        "after": [
            (
                "is not the id of an event of the last 90 days: correct the id, "
                "or read all records again and start without `after`"
            )
        ]
    }


async def test_a_walk_goes_on_after_a_test_of_a_webhook(shop: Shop) -> None:
    """A walk continues after a test of a webhook. The last id that a receiver has may be the id of a test."""
    hook = {"name": "ERP", "url": "https://hooks.example.com/", "events": ["*"], "secret": "s" * 32}
    await shop.world.call("POST", "/api/v2/webhooks", hook, status=201)
    await shop.order()
    shop.world.clock.advance(1)
    test = await shop.world.call("POST", "/api/v2/webhooks/1/test")
    assert await walked(shop, f"&after={test.body['event_id']}") == []
    shop.world.clock.advance(1)
    await shop.order()
    assert await walked(shop, f"&after={test.body['event_id']}") == ["sales_order.created", "stock.updated"]


async def test_names_that_are_no_events_are_refused(shop: Shop) -> None:
    answer = await shop.world.call("GET", f"{PATH}?event=order.created", status=422)
    assert "cannot be 'order.created', only " in answer.errors["event"][0]


async def test_events_are_kept_for_90_days(shop: Shop) -> None:
    database = await shop.world.database()
    count = len(await walked(shop))
    shop.world.clock.advance(86_400)
    await shop.order()
    shop.world.clock.advance(89 * 86_400)
    assert await database.write(forget_old) == 0
    shop.world.clock.advance(1)
    assert await database.write(forget_old) == count
    token = await shop.world.new_token("admin@example.com")
    assert len((await shop.world.call("GET", PATH, token=token)).body["data"]) == 2
    sequences = await shop.world.rows("SELECT min(sequence) FROM events")
    assert sequences == [(count + 1,)], "sequences go on: what is forgotten leaves no number to be given again"


async def dated(shop: Shop, moment: str) -> None:
    """Create an order whose events have the time of a wrong clock."""
    before = await shop.world.last_event()
    await shop.order()
    redate = "UPDATE events SET occurred_at = ? WHERE sequence > ?"
    await (await shop.world.database()).write(lambda tx: tx.execute(redate, (moment, before)))


async def test_events_dated_in_the_future_are_forgotten_with_those_around_them(shop: Shop) -> None:
    await dated(shop, "2076-01-01T00:00:00.000Z")
    await shop.order()
    shop.world.clock.advance(91 * 86_400)
    assert await (await shop.world.database()).write(forget_old) > 4
    assert await shop.world.rows("SELECT count(*) FROM events") == [(0,)]


async def test_events_dated_in_the_past_keep_and_do_not_take_along_those_before_them(shop: Shop) -> None:
    await dated(shop, "2016-01-01T00:00:00.000Z")
    count = len(await walked(shop, per_page=500))
    assert await (await shop.world.database()).write(forget_old) == 0
    assert len(await walked(shop, per_page=500)) == count


@pytest.mark.parametrize("ability", ["webhooks:read", "stock:read"])
async def test_the_log_needs_its_ability_and_module(shop: Shop, ability: str) -> None:
    token = await shop.world.new_token("admin@example.com", [ability])
    await shop.world.call("GET", PATH, token=token, status=200 if ability == "webhooks:read" else 403)
    await shop.world.set_module("ACME", "webhooks", False)
    await shop.world.call("GET", PATH, token=token, status=403)


async def test_what_is_old_is_forgotten_by_the_job(shop: Shop) -> None:
    await shop.world.send("POST", "/api/articles", {"code": "N", "name": "N"}, headers={"Idempotency-Key": "k"})
    shop.world.clock.advance(91 * 86_400)
    await shop.world.jobs.tidy_files()
    assert await shop.world.rows("SELECT count(*) FROM events") == [(0,)]
    assert await shop.world.rows("SELECT count(*) FROM idempotency_keys") == [(0,)]


async def test_events_since_a_moment(shop: Shop) -> None:
    before = len(await walked(shop))
    shop.world.clock.advance(3600)
    await shop.order()
    shop.world.clock.advance(3600)
    await shop.order()
    assert len(await walked(shop, "&since=2026-11-20T12:00:00Z")) == before + 4
    assert await walked(shop, "&since=2026-11-20T12:00:00.001Z") == ["sales_order.created", "stock.updated"] * 2
    assert await walked(shop, "&since=2026-11-20T14:00:00Z", per_page=1) == [
        "sales_order.created",
        "stock.updated",
    ]
    shop.world.clock.advance(1)
    assert await walked(shop, "&since=2026-11-20T14:00:00.001Z") == []
    assert await walked(shop, "&since=2026-11-20T13:00:00Z&event=stock.updated") == ["stock.updated"] * 2
    await shop.world.call("GET", f"{PATH}?since=yesterday", status=422)


async def test_events_since_a_moment_although_the_clock_was_set_back(shop: Shop) -> None:
    """Reading events since a time leaves out no event at or after that time, in whatever order the clock dated
    them.
    """
    shop.world.clock.advance(3600)
    await shop.order()
    shop.world.clock.set_back(3000)
    await shop.order()
    found = await walked(shop, "&since=2026-11-20T12:30:00Z")
    assert found == ["sales_order.created", "stock.updated"]
    assert await walked(shop, "&since=2026-11-20T12:10:00Z") == found * 2


async def test_a_place_in_front_of_forgotten_events_is_told(shop: Shop) -> None:
    shop.world.token = await shop.world.new_token("admin@example.com", lifetime=timedelta(days=900))
    first = (await shop.world.call("GET", f"{PATH}?per_page=2")).body
    early, end = first["next_cursor"], (await shop.world.call("GET", PATH)).body["end_cursor"]
    database = await shop.world.database()
    shop.world.clock.advance(80 * 86_400)
    await shop.order()
    shop.world.clock.advance(11 * 86_400)
    assert await database.write(forget_old) > 0
    refused = await shop.world.call("GET", f"{PATH}?cursor={early}", status=422)
    assert "is older than the event log" in refused.errors["cursor"][0]
    assert await walked(shop, f"&cursor={end}") == ["sales_order.created", "stock.updated"], "nothing was missed"
    shop.world.clock.advance(80 * 86_400)
    assert await database.write(forget_old) > 0
    await shop.world.call("GET", f"{PATH}?cursor={end}", status=422)


async def test_who_waits_for_a_rare_event_is_not_told_of_a_gap(shop: Shop) -> None:
    """A client that waits for a rare event is not told of a gap.

    The end of a walk is the end of the log, not the last matching event.
    """
    shop.world.token = await shop.world.new_token("admin@example.com", lifetime=timedelta(days=900))
    page = (await shop.world.call("GET", f"{PATH}?event=stock.low")).body
    assert page["data"] == []
    for _ in range(3):
        shop.world.clock.advance(60 * 86_400)
        await shop.order({"article_id": 1, "quantity": 0.1})
        await shop.world.jobs.tidy_files()
        page = (await shop.world.call("GET", f"{PATH}?event=stock.low&cursor={page['end_cursor']}")).body
        assert (page["data"], page["next_cursor"]) == ([], None)
