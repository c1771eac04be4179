"""Tests of the filters of the webhook log: their results, order and pages are compared with a plain reading of
every row.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import open_world
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.deliveries import filters
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter, newest, oldest
from wmsd.events.webhooks.schema import DELIVERY_STATUSES

ROWS = 400
EVENTS = ("article.created", "article.updated", "sales_order.created", "webhook.test")
INSERT = """
    INSERT INTO webhook_deliveries (subscription_id, sequence, event_sequence, test_event, event, entity,
        entity_id, status, attempts_left, due_at, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 5, iif(?8 = 'pending', 0, NULL), ?)
"""
ALL = """
    SELECT id, subscription_id, status, event, entity, entity_id, created_at, test_event IS NOT NULL
    FROM webhook_deliveries
"""


def fill(tx: Transaction, seed: int, back: int = -7) -> None:
    """Fill two subscriptions with deliveries of few different times. The clock is sometimes set `back`."""
    some = random.Random(seed)
    minute = 100
    for number in range(ROWS):
        minute += some.choice((0, 0, 0, 1, 1, 2, back))
        event = some.choice(EVENTS)
        is_test = event == "webhook.test"
        tx.execute(
            INSERT,
            (
                *(some.choice((1, 1, 2)), number, None if is_test else number, "{}" if is_test else None, event),
                *(event.partition(".")[0], some.randrange(4), some.choice(DELIVERY_STATUSES), moment(minute)),
            ),
        )


def moment(minute: int) -> str:
    return f"2026-11-20T{minute // 60:02}:{minute % 60:02}:00.000Z"


def plainly(tx: Transaction, wanted: DeliveryFilter) -> list[int]:
    """Return the ids of the wanted deliveries, the oldest first."""
    found = [
        (at, id)
        for id, subscription, status, event, entity, entity_id, at, is_test in tx.rows(ALL)
        if subscription == wanted.subscription_id
        and (wanted.statuses is None or status in wanted.statuses)
        and (wanted.events is None or event in wanted.events)
        and (wanted.records is None or (entity, entity_id) in wanted.records)
        and (wanted.since is None or at >= wanted.since)
        and (wanted.until is None or at <= wanted.until)
        and (wanted.has_tests or not is_test)
    ]
    return [id for _, id in sorted(found)]


def walked(tx: Transaction, wanted: DeliveryFilter, page: int, is_newest_first: bool) -> list[int]:
    found, place = [], 0
    for _ in range(ROWS + 2):
        step = (newest if is_newest_first else oldest)(tx, wanted, place, page)
        assert len(step.ids) <= page
        found += step.ids
        if not step.is_more:
            return found
        place = step.last
    raise AssertionError("it never ends")


def questions(seed: int) -> list[DeliveryFilter]:
    some = random.Random(seed)
    conditions: dict[str, Callable[[], Any]] = {
        "statuses": lambda: tuple(some.sample(DELIVERY_STATUSES, some.randrange(4))),
        "events": lambda: tuple(some.sample(EVENTS, some.randrange(1, 4))),
        "records": lambda: tuple((some.choice(("article", "sales_order")), number) for number in range(2)),
        "since": lambda: moment(some.randrange(60, 240)),
        "until": lambda: moment(some.randrange(60, 240)),
        "has_tests": lambda: False,
    }
    asked = [DeliveryFilter(1), DeliveryFilter(3)]
    for _ in range(60):
        chosen = some.sample(list(conditions), some.randrange(1, 4))
        asked.append(replace(DeliveryFilter(some.choice((1, 2))), **{name: conditions[name]() for name in chosen}))
    return asked


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_question_finds_what_a_plain_reading_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(filters, "LOOKED_AT", 7)

    def look(tx: Transaction) -> int:
        fill(tx, seed)
        found = 0
        for wanted in questions(seed):
            expected = plainly(tx, wanted)
            found += len(expected)
            assert walked(tx, wanted, 5, is_newest_first=False) == expected, wanted
            assert walked(tx, wanted, 3, is_newest_first=True) == expected[::-1], wanted
        return found

    async with open_world(tmp_path / "data") as world:
        assert await (await world.database()).write(look) > ROWS


async def test_a_condition_that_holds_for_none_finds_nothing(tmp_path: Path) -> None:
    """A condition that no delivery satisfies finds nothing, such as both failed and delivered.

    Such a condition must never mean everything.
    """

    def look(tx: Transaction) -> None:
        fill(tx, 1)
        for nothing in (
            DeliveryFilter(1, statuses=()),
            DeliveryFilter(1, events=()),
            DeliveryFilter(1, records=()),
        ):
            assert newest(tx, nothing, 0, 5) == ([], 0, False)

    async with open_world(tmp_path / "data") as world:
        await (await world.database()).write(look)


async def test_a_place_whose_delivery_is_gone_is_still_a_place(tmp_path: Path) -> None:
    def look(tx: Transaction) -> None:
        fill(tx, 1, back=0)
        everything = newest(tx, DeliveryFilter(1), 0, ROWS).ids
        for place in (3, 40):
            tx.execute("DELETE FROM webhook_deliveries WHERE id = ?", (everything[place],))
            assert newest(tx, DeliveryFilter(1), everything[place], ROWS).ids == everything[place + 1 :]
        assert newest(tx, DeliveryFilter(1), 10**12, 3).ids == everything[:3]
        assert newest(tx, DeliveryFilter(1), min(everything), 3).ids == []

    async with open_world(tmp_path / "data") as world:
        await (await world.database()).write(look)


@pytest.mark.parametrize("has_statistics", [False, True])
async def test_every_plan_reads_its_index_in_order(tmp_path: Path, has_statistics: bool) -> None:
    """Every query plan reads its index in order.

    However many deliveries exist, none is scanned, and only one page is sorted.
    """

    def look(tx: Transaction) -> list[str]:
        for seed in range(8 * has_statistics):
            fill(tx, seed)
        if has_statistics:
            tx.execute("ANALYZE")
        plans: list[str] = []
        tx_rows = tx.rows

        def explain(sql: str, parameters: Any = ()) -> Any:
            if "webhook_deliveries" in sql and "json_group_array" in sql:
                plans.extend(row[3] for row in tx_rows(f"EXPLAIN QUERY PLAN {sql}", parameters))
            return tx_rows(sql, parameters)

        tx.rows = explain  # type: ignore[method-assign]
        for wanted in (
            DeliveryFilter(1),
            DeliveryFilter(1, statuses=("exhausted",)),
            DeliveryFilter(1, statuses=("delivered",), events=("stock.low",)),
            DeliveryFilter(1, events=("stock.low",)),
            DeliveryFilter(1, records=(("article", 1),)),
            DeliveryFilter(1, since=moment(100), until=moment(200)),
        ):
            newest(tx, wanted, 7, 50)
            oldest(tx, replace(wanted, has_tests=False), 7, 50)
        return plans

    async with open_world(tmp_path / "data") as world:
        plans = await (await world.database()).write(look)
    reads = [plan for plan in plans if "webhook_deliveries" in plan]
    assert len(reads) == 4 * len(DELIVERY_STATUSES) + 8
    for plan in reads:
        assert plan.startswith("SEARCH webhook_deliveries USING"), plan
        assert "subscription_id=?" in plan, plan
        assert "created_at" in plan, plan
