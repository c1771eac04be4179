"""The reservation of an order: exact in the records, the lots and the serials."""

import pytest

from tests.support.goods import LOTTED, PLAIN, Store
from wmsd.base.quantity import SCALE
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock.stock_reservations import (
    NOTHING,
    Holder,
    Reservation,
    release_reservations,
    reservation_of,
    reservations_of,
    reserve_for_new,
    set_reservation,
)

ORDER, KIND = 1, "sales_order"
LOTS, SERIALS = 1, 2
"""The ids of the stock records."""
FIRST, SECOND = 1, 2
"""The ids of the lots of the first record, and of the serials of the second record."""
SOME = Reservation({LOTS: 3 * SCALE, SERIALS: SCALE}, {FIRST: 2 * SCALE, SECOND: SCALE}, frozenset({FIRST}))


@pytest.fixture
async def stocked(store: Store) -> Store:
    """Stock 5 of L in each of two lots, and the serials S1 and S2 of S. Create an order that reserves none of
    these goods.
    """
    await store.count("L,MAIN,L1,,5,\nL,MAIN,L2,,5,\nS,MAIN,,S1,1,\nS,MAIN,,S2,1,\nP,MAIN,,,1,\n")
    await store.order(PLAIN, 1)
    await change(store, NOTHING)
    return store


async def change(store: Store, wanted: Reservation) -> Reservation:
    """Set the reservation of the order, and return the stored reservation."""

    def unit(tx: Transaction) -> Reservation:
        set_reservation(tx, Holder(KIND, ORDER), wanted)
        return reservation_of(tx, Holder(KIND, ORDER))

    return await (await store.world.database()).write(unit)


async def reserved(store: Store) -> tuple[list[float], list[float]]:
    """Return the reserved quantities of the stock records of L and S, and of each lot."""
    records = await store.world.rows("SELECT reserved / 1e6 FROM stock WHERE article_id > 1 ORDER BY id")
    lots = await store.world.rows("SELECT reserved / 1e6 FROM stock_lots ORDER BY id")
    return [row[0] for row in records], [row[0] for row in lots]


async def test_an_order_holds_what_it_was_made_to_and_nothing_else(stocked: Store) -> None:
    steps = {
        "some": (SOME, ([3, 1], [2, 1])),
        "the same": (SOME, ([3, 1], [2, 1])),
        "more of one, less of the other": (
            Reservation({LOTS: 4 * SCALE, SERIALS: SCALE}, {FIRST: SCALE, SECOND: 3 * SCALE}, frozenset({SECOND})),
            ([4, 1], [1, 3]),
        ),
        "nothing of one": (Reservation({LOTS: SCALE}, {SECOND: SCALE}), ([1, 0], [0, 1])),
        "both serials": (Reservation({SERIALS: 2 * SCALE}, {}, frozenset({FIRST, SECOND})), ([0, 2], [0, 0])),
        "nothing": (NOTHING, ([0, 0], [0, 0])),
    }
    for name, (wanted, figures) in steps.items():
        assert await change(stocked, wanted) == wanted, name
        assert await reserved(stocked) == figures, name
    for table in ("reservations", "lot_reservations"):
        assert await stocked.world.rows(f"SELECT * FROM {table}") == []


async def test_what_one_order_holds_another_leaves_alone(stocked: Store) -> None:
    await change(stocked, SOME)
    other = await stocked.order(LOTTED, 1, lot_number="L1")
    assert await reserved(stocked) == ([4, 1], [3, 1])
    await change(stocked, NOTHING)
    assert await reserved(stocked) == ([1, 0], [1, 0])
    of_other = await (await stocked.world.database()).read(lambda tx: reservation_of(tx, Holder(KIND, other)))
    assert of_other == Reservation({LOTS: SCALE}, {FIRST: SCALE})


async def test_orders_are_made_to_hold_and_to_let_go_together(stocked: Store) -> None:
    await change(stocked, NOTHING)
    other = await stocked.order(PLAIN, 1)
    of_other = Reservation({LOTS: 2 * SCALE}, {FIRST: 2 * SCALE}, frozenset())
    database = await stocked.world.database()

    def let_go(tx: Transaction) -> None:
        release_reservations(tx, KIND, reservations_of(tx, KIND, [ORDER, other]))

    await database.write(let_go)
    await database.write(lambda tx: reserve_for_new(tx, KIND, {ORDER: SOME, other: of_other}))
    assert await database.read(lambda tx: reservations_of(tx, KIND, [other, ORDER])) == {
        ORDER: SOME,
        other: of_other,
    }
    assert await reserved(stocked) == ([5, 1], [4, 1])
    await database.write(let_go)
    assert await reserved(stocked) == ([0, 0], [0, 0])


async def test_a_lot_for_a_lot_is_a_change_of_the_record_that_shows_them(stocked: Store) -> None:
    await change(stocked, Reservation({LOTS: SCALE}, {FIRST: SCALE}))
    shown = "SELECT id, change_seq, updated_at FROM stock WHERE article_id > 1 ORDER BY id"
    lots, serials = await stocked.world.rows(shown)
    stocked.world.clock.advance(60)
    await change(stocked, Reservation({LOTS: SCALE}, {SECOND: SCALE}))
    lots_after, serials_after = await stocked.world.rows(shown)
    assert lots_after[1] > lots[1]
    assert lots_after[2] == "2026-11-20T12:01:00.000Z"
    assert serials_after == serials


@pytest.mark.parametrize(
    "wanted",
    [Reservation({LOTS: 11 * SCALE}), Reservation({LOTS: 6 * SCALE}, {FIRST: 6 * SCALE})],
    ids=["record", "lot"],
)
async def test_more_than_there_is_is_refused_by_the_file_itself(stocked: Store, wanted: Reservation) -> None:
    before = await stocked.everything()
    with pytest.raises(sqlite3.IntegrityError):
        await change(stocked, wanted)
    assert await stocked.everything() == before
