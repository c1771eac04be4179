"""An explanation adds up to the balance, whatever the ledger holds, now and at every time of the past."""

from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.goods import LOTTED, MAIN, PLAIN, SERIAL, Store, open_store
from tests.support.shop import WAYS
from tests.support.thorough import IS_THOROUGH
from tests.support.world import World
from tests.warehouse.stock.explained import explained, is_explained
from wmsd.base import timestamps
from wmsd.base.problems import Problem
from wmsd.base.quantity import SCALE
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.explanation import MOST_LEVELS
from wmsd.warehouse.stock.stock_ledger import Movement, post_all

COMPANIES = count(1)
AT_RANDOM = settings(
    max_examples=200 if IS_THOROUGH else 12, deadline=None, suppress_health_check=list(HealthCheck)
)

amounts = st.integers(-6, 8).map(lambda halves: halves * SCALE // 2)
movements = st.builds(
    Movement,
    amounts,
    st.sampled_from(["loading", "unloading", "receipt", "return", "count", "count", "adjustment", "release"]),
    quarantined=st.sampled_from([0, 0, 0, SCALE, -SCALE]),
    destroyed=st.sampled_from([0, 0, SCALE]),
    lot_number=st.sampled_from([None, "L1", "L2"]),
    serial=st.none(),
    document_id=st.none() | st.integers(1, 4),
    document_line_id=st.none(),
    reason=st.sampled_from([None, "broken", "found"]),
)
units = st.tuples(
    st.sampled_from([PLAIN, LOTTED]),
    st.lists(movements, min_size=1, max_size=4),
    st.sampled_from([0, 1, 60, 86_400 * 3, 86_400 * 40, -1, -86_400]),
)
"""The movements that are posted together, and the seconds before them: the clock may be set back."""


async def written(store: Store, article: int, moved: list[Movement]) -> None:
    def unit(tx: Transaction) -> None:
        stock_id = stock.id_of(tx, article, MAIN)
        post_all(tx, [(stock_id, movement) for movement in moved])

    with suppress(sqlite3.IntegrityError):  # the quantity would fall below zero
        await (await store.world.database()).write(unit)


@AT_RANDOM
@given(st.lists(units, min_size=1, max_size=14))
async def test_any_ledger_is_explained(world: World, life: list[Any]) -> None:
    world.company = await world.new_company(f"LEDGER{next(COMPANIES)}")
    store = await open_store(world)
    for article, moved, seconds in life:
        world.clock.set_forward(seconds)
        await written(store, article, moved)
    await is_explained(world)


OPENING = "P,MAIN,,,20,\nL,MAIN,L1,,9,\nL,MAIN,L2,,9,\nS,MAIN,X,S1,1,\nS,MAIN,X,S2,1,\nS,MAIN,,S3,1,\n"
articles = st.sampled_from([PLAIN, LOTTED, SERIAL])
some = st.sampled_from([1, 2, 3])
dispositions = st.sampled_from(["RESTOC", "CARANTINA", "DISTRUS"])
days = st.one_of(
    st.tuples(st.just("count"), st.sampled_from(["P,MAIN,,,6,\n", "L,MAIN,L1,,4,1\nL,MAIN,L3,,2,\n"])),
    st.tuples(st.just("adjust"), st.sampled_from([-2, 3]), st.sampled_from([None, "L1", "L2"])),
    st.tuples(st.sampled_from(["quarantine", "release"]), some, st.sampled_from([None, "L1"])),
    st.tuples(st.just("order"), articles, some, st.sampled_from(["CREAT", "INCARCAT", "INCARCAT", "LIVRAT"])),
    st.tuples(st.just("return"), articles, st.sampled_from([1, 2]), dispositions),
    st.tuples(st.just("move"), some, st.sampled_from(["IN_LUCRU", "INCARCAT", "INCARCAT", "IN_LUCRU", "LIVRAT"])),
)
"""The actions of one day. Impossible actions are refused."""


@AT_RANDOM
@given(st.lists(days, min_size=6, max_size=24))
async def test_any_life_of_stock_is_explained(world: World, life: list[Any]) -> None:
    """The stock changes by counts, adjustments, quarantine, returns, and orders that reserve, load, unload and
    deliver.
    """
    world.company = await world.new_company(f"LIFE{next(COMPANIES)}")
    world.token = await world.new_token("admin@example.com")  # the previous token has expired
    store = await open_store(world)
    for done in [("count", OPENING), *life]:
        with suppress(Problem, ImportRefused):
            await day(store, *done)
        world.clock.advance(86_400)
    assert await is_explained(world)
    await store.is_right()


async def day(store: Store, does: str, *what: Any) -> None:
    world = store.world
    match does, *what:
        case "count", rows:
            await store.count(rows)
        case "adjust", by, lot:
            await store.adjust(PLAIN if lot is None else LOTTED, by=by, lot_number=lot)
        case "quarantine", quantity, lot:
            await store.quarantine(PLAIN if lot is None else LOTTED, quantity=quantity, lot_number=lot)
        case "release", quantity, lot:
            await store.release(PLAIN if lot is None else LOTTED, quantity=quantity, lot_number=lot)
        case "order", article, quantity, status:
            lines = [{"article_id": article, "quantity": quantity}]
            body = {"partner_id": 1, "warehouse_id": MAIN, "lines": lines}
            made = await world.send("POST", "/api/sales-orders", body)
            for step in WAYS[status] if made.status == 201 else ():
                await world.send("PATCH", f"/api/v2/sales-orders/{made.id}/status", {"status": step})
        case "return", article, quantity, disposition:
            lines = [{"article_id": article, "quantity": quantity, "disposition": disposition}]
            body = {"partner_id": 1, "warehouse_id": MAIN, "lines": lines}
            made = await world.send("POST", "/api/returns", body)
            for status in ("RECEPTIONAT", "FINALIZAT") if made.status == 201 else ():
                await world.send("PATCH", f"/api/returns/{made.id}", {"status": status})
        case "move", order_id, status:
            for step in ("IN_LUCRU", status):
                await world.send("PATCH", f"/api/v2/sales-orders/{order_id}/status", {"status": step})


async def test_it_begins_with_the_last_count(store: Store) -> None:
    await store.count("P,MAIN,,,10,\n", reason="first")
    store.world.clock.advance(60)
    await store.adjust(PLAIN, by=5)
    store.world.clock.advance(60)
    await store.count("P,MAIN,,,12,\n", reason="yearly")
    store.world.clock.advance(60)
    await store.load(await store.order(PLAIN, 4))
    found = await explained(store.world, 1)
    assert (found["quantity"], found["begins_with"], found["count"]["difference"]) == (8, 12, -3)
    assert (found["count"]["reason"], found["count"]["at"]) == ("yearly", "2026-11-20T12:02:00.000Z")
    assert [(each["kind"], each["quantity"], each["document_ids"]) for each in found["groups"]] == [
        ("loading", -4, [1])
    ]
    assert [each["quantity"] for each in found["levels"]] == [0, 10, 15, 12, 8]


async def test_at_a_past_moment_it_is_as_it_was_then(store: Store) -> None:
    await store.count("P,MAIN,,,10,\n")
    store.world.clock.advance(60)
    await store.quarantine(PLAIN, quantity=2)
    store.world.clock.advance(60)
    await store.count("P,MAIN,,,7,0\n")
    before = await explained(store.world, 1, "2026-11-20T12:01:59.999Z")
    assert (before["quantity"], before["quarantined"], before["begins_with"]) == (10, 2, 10)
    assert (before["reserved"], before["available"], before["holders"]) == (None, None, None)
    after = await explained(store.world, 1, "2026-11-20T12:02:00.000Z")
    assert (after["quantity"], after["quarantined"], after["groups"]) == (7, 0, [])


async def test_a_count_of_many_lots_and_serials_is_one(store: Store) -> None:
    await store.count("S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,\nS,MAIN,Y,S3,1,\nL,MAIN,L1,,5,\nL,MAIN,L2,,2,\n")
    for stock_id, quantity in ((1, 3), (2, 7)):
        found = await explained(store.world, stock_id)
        assert (found["begins_with"], found["count"]["difference"], found["groups"]) == (quantity, quantity, [])


async def test_a_record_without_a_movement_begins_with_nothing(store: Store) -> None:
    await (await store.world.database()).write(lambda tx: stock.id_of(tx, PLAIN, MAIN))
    found = await explained(store.world, 1)
    assert (found["quantity"], found["begins_with"], found["count"], found["groups"]) == (0, 0, None, [])
    assert [each["quantity"] for each in found["levels"]] == [0]


@pytest.mark.parametrize("number", [MOST_LEVELS, MOST_LEVELS + 1, 500])
async def test_a_chart_has_so_many_levels_at_most(store: Store, number: int) -> None:
    """Each level is a past quantity, and the last level is the present quantity."""
    for _ in range(number):
        await written(store, PLAIN, [Movement(SCALE, "receipt")])
        await written(store, SERIAL, [Movement(SCALE, "receipt")])
    found = await explained(store.world, 1)
    quantities = [each["quantity"] for each in found["levels"]]
    assert quantities == sorted(quantities)
    assert (quantities[0], quantities[-1]) == (0, number)
    assert len(quantities) == number + 1 if number <= MOST_LEVELS else len(quantities) > MOST_LEVELS // 2
    assert len(quantities) <= MOST_LEVELS + 1


async def test_a_chart_shows_four_weeks_at_least(store: Store) -> None:
    for _ in range(60):
        store.world.clock.advance(86_400)
        await written(store, PLAIN, [Movement(SCALE, "receipt")])
    await store.count("P,MAIN,,,50,\n")
    levels = (await explained(store.world, 1))["levels"]
    begins = timestamps.to_text(store.world.clock.wall - timedelta(weeks=4))
    assert levels[0] == {"at": begins, "quantity": 60 - 28}
    assert [each["quantity"] for each in levels[1:]] == [*range(33, 61), 50]


async def test_the_statements_read_the_movements_of_the_record_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.count("P,MAIN,,,10,\n")
    plans: list[str] = []
    execute = Transaction.execute

    def planned(read: Any) -> Any:
        def reading(tx: Transaction, sql: str, parameters: Any = ()) -> Any:
            plans.extend(step[3] for step in execute(tx, f"EXPLAIN QUERY PLAN {sql}", parameters))
            return read(tx, sql, parameters)

        return reading

    for name in ("rows", "row", "value"):
        monkeypatch.setattr(Transaction, name, planned(getattr(Transaction, name)))
    await explained(store.world, 1, "2026-11-20T12:00:00.000Z")
    steps = [step for step in plans if "stock_movements" in step]
    assert len(steps) >= 6
    assert all("INDEX stock_movements_by_stock (stock_id=?" in step for step in steps), steps
