"""Lots and serials are parts of a balance: movements that are posted together change them together."""

from collections.abc import Sequence

import pytest

from tests.support.goods import EAST, LOTTED, MAIN, SERIAL, Store
from wmsd.base.quantity import SCALE
from wmsd.db.engine.sqlite import sqlite3
from wmsd.warehouse.stock import lots
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.stock_ledger import Movement, post_all


async def post(store: Store, *movements: tuple[int, Movement], article: int = SERIAL) -> None:
    """Post the movements together; each comes with its warehouse."""
    await (await store.world.database()).write(
        lambda tx: post_all(
            tx, [(stock.id_of(tx, article, warehouse), movement) for warehouse, movement in movements]
        )
    )


def unit(quantity: int, serial: str, lot_number: str | None = "X", quarantined: int = 0) -> Movement:
    return Movement(quantity * SCALE, "count", quarantined * SCALE, lot_number=lot_number, serial=serial)


async def test_a_serial_may_change_its_lot_and_its_warehouse_at_once(store: Store) -> None:
    await store.count("S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,1\n")
    await post(store, (MAIN, unit(1, "S1", "Y")), (MAIN, unit(-1, "S1")))
    await post(store, (EAST, unit(1, "S2", quarantined=1)), (MAIN, unit(-1, "S2", quarantined=-1)))
    assert await store.parts(SERIAL) == {("Y", "S1"): (1, 0)}
    assert await store.parts(SERIAL, EAST) == {("X", "S2"): (1, 1)}
    await store.is_right()


async def test_the_order_of_movements_is_never_the_wrong_one(store: Store) -> None:
    """One by one, the first movement would leave less than orders reserve, and the second would exceed the largest
    quantity.
    """
    await store.count("L,MAIN,L1,,999999999.999999,\n")
    await store.order(LOTTED, 1)
    there = 999_999_999_999_999
    for takes in (True, False):
        lots = (("L1", -there), ("L2", there)) if takes else (("L1", there), ("L2", -there))
        await post(
            store, *((MAIN, Movement(change, "count", lot_number=lot)) for lot, change in lots), article=LOTTED
        )
    assert await store.parts(LOTTED) == {("L1", None): (999999999.999999, 0)}
    await store.is_right()


async def test_a_lot_may_grow_while_it_leaves_quarantine(store: Store) -> None:
    await store.count("L,MAIN,L1,,5,4\n")
    await post(store, (MAIN, Movement(SCALE, "count", -4 * SCALE, lot_number="L1")), article=LOTTED)
    await post(store, (MAIN, Movement(SCALE, "count", 6 * SCALE, lot_number="L1")), article=LOTTED)
    assert await store.parts(LOTTED) == {("L1", None): (7, 6)}
    await store.is_right()


WRONG: dict[str, Sequence[Movement]] = {
    "more than there is of the lot": [Movement(-2 * SCALE, "count", lot_number="X")],
    "a lot that never was": [Movement(-SCALE, "count", lot_number="Z")],
    "a serial twice": [unit(1, "S1")],
    "more quarantined than there is": [Movement(0, "count", 2 * SCALE, lot_number="X")],
}


@pytest.mark.parametrize("case", WRONG)
async def test_what_cannot_be_is_refused_by_the_file_itself(store: Store, case: str) -> None:
    await store.count("S,MAIN,X,S1,1,\nS,MAIN,,,5,\n")
    before = await store.everything()
    with pytest.raises(sqlite3.IntegrityError):
        await post(store, *((MAIN, movement) for movement in WRONG[case]))
    assert await store.everything() == before


async def test_goods_beside_a_held_serial_are_free(store: Store) -> None:
    """A reserved serial is not subtracted a second time from the goods without a serial."""
    await store.count("S,MAIN,X,S1,1,\nS,MAIN,X,,2,\n")
    await store.order(SERIAL, 1, serials=["S1"])
    await store.adjust(SERIAL, lot_number="X", by=-2)
    assert await store.parts(SERIAL) == {("X", "S1"): (1, 0)}
    await store.is_right()


async def test_the_oldest_lot_leaves_first_in_the_order_of_the_count(store: Store) -> None:
    await store.count("L,MAIN,,,1,\nL,MAIN,B,,2,\nL,MAIN,A,,2,\n")
    await store.load(await store.order(LOTTED, 3))
    assert await store.parts(LOTTED) == {("A", None): (1, 0), (None, None): (1, 0)}
    detailed = (await store.world.call("GET", "/api/v2/stock?detail=lots")).body["data"][0]
    assert detailed["lots"] == [{"lot_number": "A", "quantity": 1, "available": 1}]
    await store.is_right()


async def test_a_serial_that_leaves_is_found_by_its_index(store: Store) -> None:
    """A serial that leaves is found by its index, so 10 000 serials do not need as many scans."""
    movement = {"stock_id": 1, "serial": "S1", "lot_number": None, "quarantined": 0}
    for sql in (lots.TAKE_SERIAL, lots.QUARANTINE_SERIAL):
        parameters = {name: value for name, value in movement.items() if f":{name}" in sql}
        plan = await store.world.rows(f"EXPLAIN QUERY PLAN {sql}", parameters)
        (step,) = (step[3] for step in plan if "stock_serials" in step[3])
        assert "(article_id=? AND serial=?)" in step, step
