"""The count of a single stock record: a count with one line, finished in the same transaction."""

from decimal import Decimal
from typing import Any

import pytest

from tests.support.goods import LOTTED, PLAIN, SERIAL, Store
from tests.warehouse.counts.counting import PATH, book, enter, make_count, shown
from wmsd.base.problems import Problem
from wmsd.contract.validation import validate_model
from wmsd.warehouse.counts.record_count import count_stock
from wmsd.warehouse.counts.schema import RecordCount


@pytest.fixture
async def full(store: Store) -> Store:
    await store.count("P,MAIN,,,10,\nL,MAIN,L1,,5,\nS,MAIN,X,S1,1,\n")
    store.world.clock.advance(60)
    return store


async def count(store: Store, article: int, quantity: float, **values: Any) -> None:
    ((stock_id,),) = await store.world.rows("SELECT id FROM stock WHERE article_id = ?", (article,))
    body = validate_model(RecordCount, {"quantity": Decimal(str(quantity)), **values})
    await (await store.world.database()).write(lambda tx: count_stock.action(tx, stock_id, body))


async def refused(store: Store, article: int, quantity: float, **values: Any) -> dict[str, list[str]]:
    before = [await store.everything(), await store.world.rows("SELECT * FROM counts")]
    with pytest.raises(Problem) as raised:
        await count(store, article, quantity, **values)
    assert [await store.everything(), await store.world.rows("SELECT * FROM counts")] == before
    return raised.value.errors


async def test_it_is_a_finished_count_of_one_line(full: Store) -> None:
    before = await full.world.last_event()
    await count(full, PLAIN, 7.5, reason="Checked twice")
    assert await full.balance(PLAIN) == (7.5, 0, 7.5)
    assert (await full.ledger())[-1] == ("count", -2.5, 0, None, None, "Checked twice")
    happened = [name for name, _ in await full.world.events_after(before)]
    assert happened == ["count.created", "count.status_changed", "count.status_changed", "stock.updated"]
    made = await full.world.call("GET", f"{PATH}/1")
    assert [each["status"] for each in made.body["status_history"]] == ["CREAT", "IN_LUCRU", "FINALIZAT"]
    assert made.body["notes"] == "Checked twice"
    assert shown(made, "expected_quantity", "counted_quantity", "booked_quantity") == [(10, 7.5, -2.5)]
    await full.is_right()


async def test_one_that_agrees_moves_nothing(full: Store) -> None:
    before = await full.ledger()
    await count(full, PLAIN, 10)
    assert await full.ledger() == before
    assert shown(await full.world.call("GET", f"{PATH}/1"), "booked_quantity") == [(0,)]


async def test_a_lot_and_a_serial(full: Store) -> None:
    await count(full, LOTTED, 4, lot_number="L1")
    await count(full, LOTTED, 2, lot_number="L2")
    await count(full, SERIAL, 0, serial="S1")
    assert await full.parts(LOTTED) == {("L1", None): (4, 0), ("L2", None): (2, 0)}
    assert await full.parts(SERIAL) == {}
    await full.is_right()


async def test_goods_with_lots_or_serials_are_named(full: Store) -> None:
    sentence = (
        "is not enough, because these goods have lots or serials: also name one lot or serial, or create a "
        "count with all lots and serials"
    )
    assert await refused(full, LOTTED, 4) == {"quantity": [sentence]}
    assert await refused(full, SERIAL, 1) == {"quantity": [sentence]}


async def test_what_is_refused_stands_at_its_field(full: Store) -> None:
    await full.order(PLAIN, 8)
    await full.order(SERIAL, 1, serials=["S1"])
    assert await refused(full, PLAIN, 7) == {
        "quantity": ["is not possible: only 7 would be left to sell, but orders have reserved 8"]
    }
    assert list(await refused(full, SERIAL, 0, serial="S1")) == ["serial"]
    assert list(await refused(full, SERIAL, 0.5, serial="S1")) == ["quantity"]
    assert list(await refused(full, PLAIN, 1, serial="N")) == ["serial"]
    assert list(await refused(full, PLAIN, 5, seen_at="2026-12-01T00:00:00Z")) == ["seen_at"]


async def test_what_moved_since_the_page_was_shown_is_to_be_counted_again(full: Store) -> None:
    seen = full.world.clock.now().isoformat()
    full.world.clock.advance(5)
    await full.adjust(PLAIN, by=-1)
    full.world.clock.advance(5)
    sentence = "was counted before the goods moved: count again"
    assert await refused(full, PLAIN, 9, seen_at=seen) == {"quantity": [sentence]}
    await count(full, PLAIN, 9, seen_at=full.world.clock.now().isoformat())
    assert await full.balance(PLAIN) == (9, 0, 9)


async def test_it_has_other_counts_count_the_same_goods_again(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 8)
    await count(full, PLAIN, 8)
    answer = await full.world.call("GET", f"{PATH}/1")
    assert shown(answer, "count_again") == [(True,)]
    await book(full, made, 409)
