"""A movement is posted to ledger, balance, lot and serial together, in one change of each record."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.goods import EAST, LOTTED, MAIN, PLAIN, SERIAL, Store
from wmsd.base.quantity import SCALE
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.lots import Part
from wmsd.warehouse.stock.stock_ledger import Kind, Movement, net_out, post_all


async def written(store: Store, *movements: tuple[int, int, Movement]) -> None:
    """Post the movements together; each comes with its article and warehouse."""

    def unit(tx: Transaction) -> None:
        post_all(
            tx, [(stock.id_of(tx, article, warehouse), movement) for article, warehouse, movement in movements]
        )

    await (await store.world.database()).write(unit)


async def events(store: Store, before: int) -> Sequence[Any]:
    return [(name, data["article_code"]) for name, data in await store.world.events_after(before)]


async def test_one_movement_is_posted_everywhere(store: Store) -> None:
    movement = Movement(5 * SCALE, "count", 2 * SCALE, lot_number="L1", reason="found")
    before = await store.world.last_event()
    await (await store.world.database()).write(
        lambda tx: post_all(tx, [(stock.id_of(tx, LOTTED, MAIN), movement)])
    )
    assert await store.balance(LOTTED) == (5, 2, 3)
    assert await store.parts(LOTTED) == {("L1", None): (5, 2)}
    assert await store.ledger() == [("count", 5, 2, "L1", None, "found")]
    assert await events(store, before) == [("stock.updated", "L")]
    await store.is_right()


async def test_what_moves_together_changes_a_balance_once(store: Store) -> None:
    """The balance changes by the sum, although a single movement would take it below zero."""
    await written(store, (PLAIN, MAIN, Movement(3 * SCALE, "count")), (PLAIN, EAST, Movement(1 * SCALE, "count")))
    before, changes = await store.world.last_event(), await places(store)
    await written(
        store,
        (PLAIN, MAIN, Movement(-8 * SCALE, "count", -SCALE)),
        (PLAIN, MAIN, Movement(7 * SCALE, "count", 2 * SCALE)),
        (PLAIN, EAST, Movement(SCALE, "count", SCALE)),
    )
    assert (await store.balance(PLAIN), await store.balance(PLAIN, EAST)) == ((2, 1, 1), (2, 1, 1))
    assert await events(store, before) == [("stock.updated", "P")] * 2
    after = await places(store)
    assert changes < after
    assert len(set(after)) == 2, "each change has a place of its own"
    await store.is_right()


async def places(store: Store) -> list[int]:
    rows = await store.world.rows("SELECT change_seq FROM stock ORDER BY id")
    return [place for (place,) in rows]


async def test_what_was_destroyed_stands_in_the_ledger_alone(store: Store) -> None:
    await store.count("P,MAIN,,,1,\nS,MAIN,X,S1,1,\n")
    before, changes, ledger = await store.world.last_event(), await places(store), await store.ledger()
    await written(
        store,
        (PLAIN, MAIN, Movement(0, "return", destroyed=SCALE, reason="broken")),
        (SERIAL, MAIN, Movement(0, "return", destroyed=SCALE, lot_number="Y", serial="S2")),
        (SERIAL, MAIN, Movement(0, "return", destroyed=SCALE, lot_number="X", serial="S1")),
    )
    assert await store.parts(SERIAL) == {("X", "S1"): (1, 0)}
    assert await store.world.rows("SELECT lot_number FROM stock_lots") == [("X",)], "no lot is opened for it"
    assert (await events(store, before), await places(store)) == ([], changes)
    assert (await store.ledger())[len(ledger) :] == [
        ("return", 0, 0, None, None, "broken"),
        ("return", 0, 0, "Y", "S2", None),
        ("return", 0, 0, "X", "S1", None),
    ]
    await store.is_right()


async def test_quarantine_alone_moves_too(store: Store) -> None:
    await store.count("P,MAIN,,,2,\nS,MAIN,X,S1,1,\n")
    await written(
        store,
        (PLAIN, MAIN, Movement(0, "count", SCALE)),
        (SERIAL, MAIN, Movement(0, "count", SCALE, lot_number="X", serial="S1")),
    )
    assert await store.balance(PLAIN) == (2, 1, 1)
    assert await store.parts(SERIAL) == {("X", "S1"): (1, 1)}
    await store.is_right()


async def test_below_nothing_is_refused_by_the_file_itself(store: Store) -> None:
    await store.count("P,MAIN,,,2,\n")
    before = await store.everything()
    with pytest.raises(sqlite3.IntegrityError):
        await written(store, (PLAIN, EAST, Movement(SCALE, "count")), (PLAIN, MAIN, Movement(-3 * SCALE, "count")))
    assert await store.everything() == before


async def test_what_has_left_by_a_document_and_is_not_back(store: Store) -> None:
    await store.count("P,MAIN,,,9,\nL,MAIN,A,,9,\nL,MAIN,B,,9,\n")

    def moved(quantity: int, kind: Kind, line: int, lot: str | None = None, document: int = 1) -> Movement:
        return Movement(quantity * SCALE, kind, lot_number=lot, document_id=document, document_line_id=line)

    await written(
        store,
        (LOTTED, MAIN, moved(-2, "loading", 20, "B")),
        (LOTTED, MAIN, moved(-3, "loading", 20, "A")),
        (PLAIN, MAIN, moved(-4, "loading", 10)),
        (PLAIN, MAIN, moved(-1, "adjustment", 10)),
        (PLAIN, MAIN, moved(-1, "loading", 10, document=2)),
        (LOTTED, MAIN, moved(1, "unloading", 20, "A")),
        (LOTTED, MAIN, moved(2, "unloading", 20, "B")),
    )
    kinds: list[Kind] = ["loading", "unloading"]
    found = await (await store.world.database()).read(lambda tx: net_out(tx, 1, kinds))
    rows = await store.world.rows("SELECT article_id, id FROM stock")
    records: dict[int, int] = dict(rows)
    assert found == [
        (20, records[LOTTED], Part(2 * SCALE, "A")),
        (10, records[PLAIN], Part(4 * SCALE)),
    ]
