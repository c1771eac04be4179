"""The location of a lot or a serial, its origin and its destination, however many movements there are."""

import json
from typing import Any

import pytest

from tests.support.goods import EAST, LOTTED, MAIN, SERIAL, Store
from tests.support.sqlite_steps import counted_steps
from wmsd.base.problems import Problem
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import part_history
from wmsd.warehouse.stock.schema import ArticleMovementQuery, LotsQuery, SerialsQuery

ODD = "../a/b?c=%2F&d#e.\u00e9\U0001f4a9"
Query = dict[str, Any]


async def movements(store: Store, article: int, position: int = 0, **query: Any) -> list[dict[str, Any]]:
    asked = validate_model(ArticleMovementQuery, query)
    page = await (await store.world.database()).read(
        lambda tx: part_history.movements_of_article(tx, article, asked, position)
    )
    found: list[dict[str, Any]] = json.loads(f"[{page.records}]")
    return found


async def lot(store: Store, lot_number: str, article: int = LOTTED) -> dict[str, Any]:
    found = await (await store.world.database()).read(lambda tx: part_history.find_lot(tx, article, lot_number))
    assert found is not None
    told: dict[str, Any] = json.loads(found)
    return told


async def serial(store: Store, name: str, article: int = SERIAL) -> dict[str, Any] | None:
    found = await (await store.world.database()).read(lambda tx: part_history.find_serial(tx, article, name))
    return None if found is None else json.loads(found)


def places(part: dict[str, Any]) -> list[tuple[str, float, float, float, float]]:
    amounts = ("quantity", "reserved", "quarantined", "available")
    return [(each["warehouse_code"], *(each[name] for name in amounts)) for each in part["places"]]


async def test_a_lot_says_where_it_is_and_who_holds_it_by_its_name(store: Store) -> None:
    await store.count("L,MAIN,L1,,10,2\nL,EAST,L1,,4,\nL,MAIN,L2,,7,\n")
    named = await store.order(LOTTED, 3, lot_number="L1")
    await store.order(LOTTED, 5)
    told = await lot(store, "L1")
    assert places(told) == [("MAIN", 10, 3, 2, 5), ("EAST", 4, 0, 0, 4)]
    assert (told["holders"], told["held_by"]) == ([{"kind": "sales_order", "id": named, "quantity": 3}], 1)
    assert (told["article_code"], told["lot_number"], told["serial"]) == ("L", "L1", None)


async def test_a_lot_that_has_left_is_still_known_and_another_is_not(store: Store) -> None:
    await store.count("L,MAIN,L1,,2,\n")
    await store.load(await store.order(LOTTED, 2, lot_number="L1"))
    assert places(await lot(store, "L1")) == [("MAIN", 0, 0, 0, 0)]
    database = await store.world.database()
    assert await database.read(lambda tx: part_history.find_lot(tx, LOTTED, "L9")) is None
    assert await database.read(lambda tx: part_history.find_lot(tx, SERIAL, "L1")) is None


async def test_a_serial_says_where_it_is_and_what_it_was_when_it_has_left(store: Store) -> None:
    await store.count("S,MAIN,L1,S1,1,\nS,EAST,L2,S2,1,1\n")
    order = await store.order(SERIAL, 1, serials=["S1"])
    told = await serial(store, "S1")
    assert told is not None
    assert places(told) == [("MAIN", 1, 1, 0, 0)]
    assert told["places"][0]["lot_number"] == "L1"
    assert told["holders"] == [{"kind": "sales_order", "id": order, "quantity": 1}]
    quarantined = await serial(store, "S2")
    assert quarantined is not None
    assert (places(quarantined), quarantined["held_by"]) == ([("EAST", 1, 0, 1, 0)], 0)
    await store.load(order)
    gone = await serial(store, "S1")
    assert gone is not None
    assert (gone["places"], gone["held_by"]) == ([], 0)
    assert await serial(store, "S9") is None


async def test_what_brought_some_and_what_took_some_are_told_apart(store: Store) -> None:
    await store.count("L,MAIN,L1,,10,\nL,EAST,L1,,4,\nL,MAIN,L2,,7,\nS,MAIN,L1,S1,1,\n")
    order = await store.order(LOTTED, 3, lot_number="L1")
    await store.load(order)
    await store.quarantine(LOTTED, lot_number="L1", quantity=1)
    kinds = [(each["kind"], each["warehouse_code"]) for each in await movements(store, LOTTED, lot_number="L1")]
    assert kinds == [("quarantine", "MAIN"), ("loading", "MAIN"), ("count", "EAST"), ("count", "MAIN")]
    brought = await movements(store, LOTTED, lot_number="L1", direction="in")
    assert [(each["kind"], each["quantity"]) for each in brought] == [("count", 4), ("count", 10)]
    took = await movements(store, LOTTED, lot_number="L1", direction="out")
    assert [(each["kind"], each["quantity"], each["document_id"]) for each in took] == [("loading", -3, order)]
    assert [each["serial"] for each in await movements(store, SERIAL, serial="S1")] == ["S1"]
    assert len(await movements(store, LOTTED)) == 5


async def test_all_are_walked_page_by_page(store: Store) -> None:
    await store.count("L,MAIN,L1,,10,\nL,EAST,L1,,4,\n")
    for _ in range(5):
        await store.adjust(LOTTED, by=1, lot_number="L1")
    seen: list[int] = []
    while some := await movements(store, LOTTED, seen[-1] if seen else 0, lot_number="L1", per_page="3"):
        seen += [each["id"] for each in some]
    assert seen == [7, 6, 5, 4, 3, 2, 1]


async def test_lots_and_serials_in_stock_are_listed(store: Store) -> None:
    await store.count("L,MAIN,L2,,1,\nL,MAIN,L1,,2,\nL,EAST,L1,,4,\nS,MAIN,L1,S2,1,\nS,EAST,L1,S1,1,1\n")
    await store.load(await store.order(LOTTED, 1, lot_number="L2"))
    database = await store.world.database()

    async def lots(position: int = 0, **query: Any) -> list[tuple[str, str, float]]:
        asked = validate_model(LotsQuery, query)
        page = await database.read(lambda tx: part_history.lots(tx, LOTTED, asked, position))
        found = json.loads(f"[{page.records}]")
        return [(each["lot_number"], each["warehouse_code"], each["quantity"]) for each in found]

    assert await lots() == [("L1", "MAIN", 2), ("L1", "EAST", 4)]
    assert await lots(warehouse_id=str(EAST)) == [("L1", "EAST", 4)]
    assert await lots(2) == [("L1", "EAST", 4)]

    async def serials(after: str = "") -> list[tuple[str, str, bool]]:
        asked = validate_model(SerialsQuery, {"after": after})
        found = await database.read(lambda tx: part_history.serials(tx, SERIAL, asked))
        return [
            (each["serial"], each["warehouse_code"], each["is_quarantined"])
            for each in json.loads(f"[{found.records}]")
        ]

    assert await serials() == [("S1", "EAST", True), ("S2", "MAIN", False)]
    assert await serials("S1") == [("S2", "MAIN", False)]


async def test_a_lot_of_any_characters_is_found(store: Store) -> None:
    await store.adjust(LOTTED, by=2, lot_number=ODD)
    assert places(await lot(store, ODD)) == [("MAIN", 2, 0, 0, 2)]
    assert len(await movements(store, LOTTED, lot_number=ODD)) == 1


LEDGER = """
    WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 100000)
    INSERT INTO stock_movements (stock_id, quantity, kind, quarantined, lot_number, actor, occurred_at)
    SELECT stock.id, iif(n % 2, 1, -1), 'adjustment', 0, 'L1', 'wmsd', '2026-11-20T08:00:00.000Z' FROM many, stock
"""


@pytest.mark.parametrize("direction", [None, "in", "out"])
async def test_a_hundred_thousand_movements_cost_what_a_page_costs(store: Store, direction: str | None) -> None:
    """The hundred thousand movements are of the lot itself, and of another article's lot with the same number."""
    await store.count("L,MAIN,L1,,10,\nS,MAIN,L1,S1,1,\n")
    database = await store.world.database()
    await database.write(lambda tx: tx.execute(LEDGER))
    steps = await _steps(store, LOTTED, lot_number="L1", direction=direction)
    assert steps < 60_000, steps
    assert await _steps(store, LOTTED) < 60_000


async def _steps(store: Store, article: int, **query: Any) -> int:
    """Return how many steps SQLite takes for the newest 50 movements, rounded down to thousands."""
    asked = validate_model(ArticleMovementQuery, {name: value for name, value in query.items() if value})

    def read(tx: Transaction) -> int:
        with counted_steps(tx._connection, by=1000) as steps:
            part_history.movements_of_article(tx, article, asked, 0)
        return steps.counted

    return await (await store.world.database()).read_long(read)


async def test_an_unknown_article_has_no_movements(store: Store) -> None:
    from wmsd.warehouse.stock.part_actions import list_article_movements

    with pytest.raises(Problem) as refused:
        await (await store.world.database()).read(
            lambda tx: list_article_movements.action(tx, 99, ArticleMovementQuery(), 0)
        )
    assert refused.value.status == 404
    assert MAIN
