"""Tests of subscriptions that are switched off and reported, because the receiver is gone or has failed for five
days.
"""

from tests.events.webhooks.hooks import Hooks
from tests.support.receivers import MANNERS, answer

FAILS = MANNERS["/500"]
ORDER_MOVES = ("IN_LUCRU", "INCARCAT", "LIVRAT")


async def test_410_switches_the_subscription_off(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/410")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    shown = await hooks.subscription()
    assert (shown["active"], shown["switched_off_because"]) == (False, "The receiver answered 410 Gone.")
    assert shown["switched_off_at"] == "2026-11-20T12:00:00.000Z"
    assert ("webhook.switch_off The receiver answered 410 Gone.", "ACME ERP") in await hooks.audit()
    await hooks.shop.order()
    await hooks.later(3600)
    assert len(hooks.received) == 1


async def test_410_of_an_address_that_it_has_left_does_not_switch_it_off(hooks: Hooks) -> None:
    hooks.receiver.script = [answer(410, delay=0.2)]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    hooks.world.clock.advance(1)
    await hooks.change(url=hooks.receiver.url("/204"))
    await hooks.settled()
    assert (await hooks.subscription())["active"]
    await hooks.later(31)
    assert await hooks.statuses() == ["delivered"]


async def test_410_ends_a_backlog(hooks: Hooks) -> None:
    await hooks.subscribe("article.created", path="/410")
    rows = "".join(f"N{number},Article\n" for number in range(300))
    await hooks.world.import_csv("articles", f"code,name\n{rows}")
    await hooks.settled()
    assert len(hooks.received) == 1
    assert (await hooks.statuses())[1:] == 299 * ["pending"]


async def test_health_is_degraded_until_somebody_looks_after_it(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/410")
    assert (await hooks.world.call("GET", "/api/health")).body["status"] == "ok"
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    health = (await hooks.world.call("GET", "/api/health")).body
    assert (health["status"], health["checks"]["webhooks"]) == (
        "degraded",
        {"ok": False, "degraded": True, "switched_off": 1},
    )
    shown = (await hooks.change(active=True, url=hooks.receiver.url("/204"))).body
    assert (shown["switched_off_at"], shown["switched_off_because"]) == (None, None)
    await hooks.settled()
    assert (await hooks.world.call("GET", "/api/health")).body["status"] == "ok"


async def test_one_that_is_to_be_off_is_no_longer_warned_of(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/410")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.settled()
    shown = (await hooks.change(active=False)).body
    assert (shown["active"], shown["switched_off_at"]) == (False, None)
    await hooks.settled()
    assert (await hooks.world.call("GET", "/api/health")).body["status"] == "ok"


async def test_failing_for_five_days_switches_it_off_and_that_is_audited_once(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    for hour in range(0, 120, 12):
        await hooks.shop.order({"article_id": 1, "quantity": 0.1})
        await hooks.later(0)
        assert (await hooks.subscription())["active"], hour
        await hooks.later(12 * 3600)
    await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    await hooks.later(0)
    shown = await hooks.subscription()
    assert (shown["active"], shown["switched_off_because"]) == (
        False,
        "No webhook delivery has succeeded for 5 days.",
    )
    await hooks.later(3600)
    audited = [subject for action, subject in await hooks.audit() if action.startswith("webhook.switch_off")]
    assert audited == ["ACME ERP"]


async def test_one_event_that_failed_is_enough_when_no_other_comes(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    await hooks.later(0)
    for hour in range(0, 120, 12):
        assert (await hooks.subscription())["active"], hour
        await hooks.later(12 * 3600)
        await hooks.world.jobs.tidy_files()
        await hooks.settled()
    shown = await hooks.subscription()
    assert (shown["active"], shown["switched_off_because"]) == (
        False,
        "No webhook delivery has succeeded for 5 days.",
    )
    audited = [subject for action, subject in await hooks.audit() if action.startswith("webhook.switch_off")]
    assert audited == ["ACME ERP"]


async def test_time_in_which_nothing_may_be_sent_does_not_count(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    await hooks.later(0)
    await hooks.world.set_module("ACME", "webhooks", False)
    for _ in range(20):
        await hooks.later(12 * 3600)
        await hooks.world.jobs.tidy_files()
    await hooks.world.set_module("ACME", "webhooks", True)
    await hooks.later(60)
    await hooks.world.jobs.tidy_files()
    assert (await hooks.subscription())["active"]


async def test_short_times_in_which_nothing_may_be_sent_do_not_count_either(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    await hooks.later(0)
    for _ in range(6):
        await hooks.world.set_module("ACME", "webhooks", False)
        for _ in range(8):
            hooks.world.clock.advance(3600)
            await hooks.world.jobs.tidy_files()
        await hooks.world.set_module("ACME", "webhooks", True)
        await hooks.world.jobs.tidy_files()
    counted = "SELECT failing_milliseconds FROM webhook_subscriptions"
    assert await hooks.world.rows(counted) == [(0,)]
    assert (await hooks.subscription())["active"]


async def test_one_that_works_is_not_counted_as_failing(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/200")
    await hooks.shop.order({"article_id": 1, "quantity": 0.1})
    for _ in range(12):
        await hooks.later(12 * 3600)
        await hooks.world.jobs.tidy_files()
    assert (await hooks.subscription())["active"]


async def test_one_success_in_five_days_keeps_it_on(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    for day in range(8):
        hooks.receiver.script = [MANNERS["/200"]] if day == 4 else []
        await hooks.shop.order({"article_id": 1, "quantity": 0.1})
        await hooks.later(86_400)
        assert (await hooks.subscription())["active"]
