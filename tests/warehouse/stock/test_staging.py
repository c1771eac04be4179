"""Counts in files are staged while other requests write, and are written by statements over all rows."""

from typing import Any

import pytest

from tests.support.world import World
from wmsd.base.quantity import SCALE
from wmsd.base.timestamps import from_microseconds
from wmsd.maintenance.file_checks.company_checks import examine
from wmsd.warehouse.stock import stock_staging

HEADER = "article_code,warehouse_code,quantity\n"
FIVE = "".join(f"{code},MAIN,{quantity}\n" for code, quantity in zip("EDCBA", (5, 4, 0, 2, 1), strict=True))
RECORDS = """
    SELECT articles.code, stock.quantity FROM stock CROSS JOIN articles ON articles.id = article_id
    ORDER BY stock.change_seq
"""
LEDGER = """
    SELECT articles.code, moved.quantity FROM stock_movements AS moved
    CROSS JOIN stock ON stock.id = stock_id CROSS JOIN articles ON articles.id = article_id ORDER BY moved.id
"""


@pytest.fixture
async def stocked(world: World) -> World:
    """Import the articles A to E. B has 7 in stock; A and B have a min_stock of 3."""
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name,min_stock\nA,A,3\nB,B,3\nC,C,\nD,D,\nE,E,\n")
    await world.import_csv("stock", HEADER + "B,MAIN,7\n")
    return world


async def shown(world: World, sql: str) -> list[Any]:
    return [(code, millionths // SCALE) for code, millionths in await world.rows(sql)]


async def is_right(world: World) -> None:
    assert (await (await world.database()).read_long(examine)).differences == []
    places = await world.rows("SELECT change_seq, updated_at FROM stock")
    assert [from_microseconds(change) for change, _ in places] == [at for _, at in places]
    (last,) = await world.rows("SELECT value >= (SELECT max(change_seq) FROM stock) FROM change_sequence")
    assert last == (1,)


@pytest.mark.parametrize("at_once", [1, 2, 5, 20_000])
async def test_records_movements_and_events_follow_the_file(
    stocked: World, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(stock_staging, "SLICE", at_once)
    before = await stocked.last_event()
    outcome = await stocked.import_csv("stock", HEADER + FIVE)
    assert (outcome.created, outcome.updated, outcome.unchanged) == (0, 4, 1)
    assert await shown(stocked, RECORDS) == [("E", 5), ("D", 4), ("C", 0), ("B", 2), ("A", 1)]
    assert await shown(stocked, LEDGER) == [("B", 7), ("E", 5), ("D", 4), ("B", -5), ("A", 1)]
    assert await stocked.rows("SELECT id FROM stock ORDER BY id") == [(1,), (2,), (3,), (4,), (5,)]
    told = [(name, data["article_code"], data["quantity"]) for name, data in await stocked.events_after(before)]
    expected = [("E", 5), ("D", 4), ("B", 2), ("A", 1)]
    assert told[:4] == [("stock.updated", *each) for each in expected]
    assert told[4:] == [("stock.low", "B", 2)], "A has risen to what is low of it"
    await is_right(stocked)


async def test_what_matches_the_records_writes_nothing(stocked: World) -> None:
    tables = ("stock", "stock_movements", "events", "change_sequence")
    before = [await stocked.rows(f"SELECT * FROM {table}") for table in tables]
    outcome = await stocked.import_csv("stock", HEADER + "B,MAIN,7\n")
    assert (outcome.updated, outcome.unchanged) == (0, 1)
    changed = [await stocked.rows(f"SELECT * FROM {table}") for table in tables]
    assert changed[:3] == before[:3]


async def test_low_stock_is_told_again_only_after_it_has_risen(stocked: World) -> None:
    low = []
    for quantity in (3, 2, 4, 3):
        before = await stocked.last_event()
        await stocked.import_csv("stock", f"{HEADER}B,MAIN,{quantity}\n")
        low.append([data["available"] for name, data in await stocked.events_after(before) if name == "stock.low"])
    assert low == [[3], [], [], [3]]
    assert await stocked.rows("SELECT is_told_low FROM stock") == [(1,)]


async def test_ids_of_events_grow(stocked: World) -> None:
    last = await stocked.last_event()
    await stocked.import_csv("stock", HEADER + FIVE)
    sql = "SELECT id FROM events WHERE event = 'stock.updated' AND sequence > ? ORDER BY sequence"
    ids = [row[0] for row in await stocked.rows(sql, (last,))]
    assert len(ids) == 4
    assert ids == sorted(set(ids))
    assert all(len(each) == 32 and int(each, 16) for each in ids)
