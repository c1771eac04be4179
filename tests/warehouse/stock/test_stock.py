"""Stock: balances are the sums of the ledger, and each change is reported once."""

from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.stock_count import count_stock
from tests.support.world import World
from wmsd.base.problems import Problem
from wmsd.base.quantity import SCALE
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import store
from wmsd.warehouse.stock.stock_ledger import Movement, post_all


@pytest.fixture
async def stocked(world: World) -> World:
    """Import article 1 (min_stock 10) and article 2, and the warehouses 1 and 2."""
    await world.import_csv("warehouses", "code,name\nMAIN,Main\nEAST,East\n")
    await world.import_csv("articles", "code,name,min_stock\nA,Alpha,10\nB,Beta,\n")
    return world


async def count(world: World, quantity: float, article: int = 1, warehouse: int = 1) -> list[tuple[str, object]]:
    """Count the stock, and return the events of the count."""
    before = await world.last_event()
    millionths = round(quantity * SCALE)
    database = await world.database()
    await database.write(lambda tx: count_stock(tx, article, warehouse, millionths, "count"))
    return await world.events_after(before)


async def test_a_stock_record_as_the_lists_show_it(stocked: World) -> None:
    stocked.clock.advance(1)
    await count(stocked, 12.5)
    page = (await stocked.call("GET", "/api/stock")).body
    assert page["data"] == [
        {
            "id": 1,
            "article_id": 1,
            "article_code": "A",
            "article_name": "Alpha",
            "warehouse_id": 1,
            "warehouse_code": "MAIN",
            "quantity": 12.5,
            "reserved": 0,
            "quarantined": 0,
            "available": 12.5,
            "created_at": "2026-11-20T12:00:01.000Z",
            "updated_at": "2026-11-20T12:00:01.000Z",
        }
    ]
    meta = {"current_page": 1, "last_page": 1, "per_page": 50, "total": 1, "truncated": False}
    assert page["meta"] == {**meta, "as_of": page["data"][0]["updated_at"]}
    walked = (await stocked.call("GET", "/api/v2/stock")).body
    assert (walked["data"], walked["next_cursor"]) == (page["data"], None)


async def test_filters(stocked: World) -> None:
    for article, warehouse in ((1, 1), (1, 2), (2, 1)):
        await count(stocked, 20, article, warehouse)
        stocked.clock.advance(60)

    async def found(query: str) -> list[int]:
        v1 = (await stocked.call("GET", f"/api/stock?{query}")).body
        v2 = (await stocked.call("GET", f"/api/v2/stock?{query}")).body
        assert v1["data"] == v2["data"]
        assert v1["meta"]["total"] == len(v1["data"])
        return [record["id"] for record in v1["data"]]

    assert await found("warehouse_id=1") == [1, 3]
    assert await found("article_id=1") == [1, 2]
    assert await found("article_id=1&warehouse_id=2") == [2]
    assert await found("updated_since=2026-11-20T12:00:30Z") == [2, 3]
    assert await found("article_id=99") == []
    assert await found("article_code=A") == [1, 2]
    assert await found("article_code=B&warehouse_id=1") == [3]
    assert await found("article_code=a") == await found("article_code=") == []
    await stocked.call("GET", "/api/stock?warehouse_id=x", status=422)


async def test_a_walk_by_cursor_meets_every_record_once(stocked: World) -> None:
    codes = "".join(f"C{place},c\n" for place in range(23))
    await stocked.import_csv("articles", "code,name\n" + codes)
    counts = "".join(f"C{place},MAIN,{place}\n" for place in range(1, 23))
    await stocked.import_csv("stock", "article_code,warehouse_code,quantity\n" + counts)
    met, cursor, pages = [], "", 0
    while cursor is not None:
        body = (await stocked.call("GET", f"/api/v2/stock?per_page=5{cursor and '&cursor=' + cursor}")).body
        met += [record["article_code"] for record in body["data"]]
        cursor, pages = body["next_cursor"], pages + 1
    assert met == [f"C{place}" for place in range(1, 23)]
    assert pages == 5


async def test_stock_updated_is_told_once_in_a_transaction(stocked: World) -> None:
    before = await stocked.last_event()

    def several(tx: Transaction) -> None:
        for quantity in (5, 7, 3):
            post_all(tx, [(store.id_of(tx, 2, 1), Movement(quantity * SCALE, kind="count", reason="test"))])

    await (await stocked.database()).write(several)
    assert await stocked.events_after(before) == [
        (
            "stock.updated",
            {"article_id": 2, "article_code": "B", "warehouse_id": 1, "quantity": 15, "available": 15},
        )
    ]


async def test_stock_low_is_told_when_available_falls_to_min_stock_and_again_after_it_recovered(
    stocked: World,
) -> None:
    async def names(quantity: float) -> list[str]:
        return [name for name, _ in await count(stocked, quantity)]

    assert await names(5) == ["stock.updated"], "an opening rises, it does not fall"
    assert await names(20) == ["stock.updated"]
    assert await names(10.000001) == ["stock.updated"]
    assert await names(10) == ["stock.updated", "stock.low"]
    assert await names(9) == ["stock.updated"]
    assert await names(11) == ["stock.updated"]
    assert await names(10) == ["stock.updated", "stock.low"]
    assert await names(10) == []
    (_, low) = (await count(stocked, 20), await count(stocked, 0))[1]
    assert low == (
        "stock.low",
        {
            "article_id": 1,
            "article_code": "A",
            "warehouse_id": 1,
            "quantity": 0,
            "available": 0,
            "min_stock": 10,
        },
    )


async def test_a_company_says_what_is_little_of_articles_that_do_not(stocked: World) -> None:
    database = await stocked.database()

    async def names(quantity: float, article: int) -> list[str]:
        return [name for name, _ in await count(stocked, quantity, article)]

    assert await names(20, article=2) == await names(2, article=2) == ["stock.updated"], "B has no min_stock"
    await database.write(lambda tx: store.set_min_stock(tx, 5 * SCALE))
    assert await names(1, article=2) == ["stock.updated", "stock.low"], "nobody was told yet"
    assert await names(6, article=2) == ["stock.updated"]
    (_, low) = await count(stocked, 5, 2)
    told = {"article_id": 2, "article_code": "B", "warehouse_id": 1, "quantity": 5, "available": 5, "min_stock": 5}
    assert low == ("stock.low", told)
    await count(stocked, 20)
    assert await names(11, article=1) == ["stock.updated"], "A has its own, 10"
    assert await names(6, article=1) == ["stock.updated", "stock.low"]
    assert await names(5, article=1) == ["stock.updated"], "the company's does not count beside it"
    await database.write(lambda tx: store.set_min_stock(tx, None))
    assert await names(9, article=2) == await names(0, article=2) == ["stock.updated"]


async def test_a_rule_that_is_lowered_is_crossed_anew(stocked: World) -> None:
    """Stock that is low by the old minimum, but not by the new one, can become low again."""
    database = await stocked.database()
    await database.write(lambda tx: store.set_min_stock(tx, 100 * SCALE))
    await count(stocked, 90, 2)
    assert [name for name, _ in await count(stocked, 80, 2)] == ["stock.updated", "stock.low"]
    await database.write(lambda tx: store.set_min_stock(tx, 5 * SCALE))
    (_, low) = await count(stocked, 4, 2)
    told = {"article_id": 2, "article_code": "B", "warehouse_id": 1, "quantity": 4, "available": 4, "min_stock": 5}
    assert low == ("stock.low", told)
    assert [name for name, _ in await count(stocked, 3, 2)] == ["stock.updated"]


async def test_the_ledger_says_what_moved_why_and_who(stocked: World) -> None:
    await count(stocked, 20)
    await count(stocked, 17.25)
    rows = await stocked.rows("SELECT quantity, quarantined, kind, reason, actor FROM stock_movements ORDER BY id")
    assert rows == [(20_000_000, 0, "count", "count", "wmsd"), (-2_750_000, 0, "count", "count", "wmsd")]


async def test_the_ledger_is_append_only(stocked: World) -> None:
    await count(stocked, 20)
    database = await stocked.database()
    for statement in ("UPDATE stock_movements SET quantity = 1", "DELETE FROM stock_movements"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            await database.write(partial(Transaction.execute, sql=statement))


async def test_no_balance_falls_below_nothing(stocked: World) -> None:
    await count(stocked, 5)
    database = await stocked.database()
    for movement in (
        Movement(-6 * SCALE, "count"),
        Movement(0, "count", quarantined=6 * SCALE),
        Movement(10**16, "count"),
    ):
        with pytest.raises(sqlite3.IntegrityError):
            await database.write(partial(post_all, movements=[(1, movement)]))
    assert await stocked.rows("SELECT quantity, quarantined FROM stock") == [(5_000_000, 0)]


async def test_a_count_below_what_is_held_is_refused(stocked: World) -> None:
    await count(stocked, 10)
    database = await stocked.database()
    await database.write(lambda tx: tx.execute("UPDATE stock SET reserved = 3500000"))
    with pytest.raises(Problem) as raised:
        await count(stocked, 3)
    assert raised.value.errors == {
        "quantity": ["must be at least 3.5, because this quantity is reserved or in quarantine"]
    }
    with pytest.raises(ImportRefused):
        await stocked.import_csv("stock", "article_code,warehouse_code,quantity\nA,MAIN,3\n")
    assert await stocked.rows("SELECT quantity FROM stock") == [(10_000_000,)]


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(0, 10**15 - 1)), max_size=12))
async def test_balances_are_the_sums_of_the_ledger(stocked: World, counts: list[tuple[int, int, int]]) -> None:
    database = await stocked.database()
    for article, warehouse, quantity in counts:
        await database.write(
            partial(count_stock, article_id=article, warehouse_id=warehouse, counted=quantity, reason="law")
        )
    differing = await stocked.rows(
        "SELECT stock.id FROM stock LEFT JOIN stock_movements ON stock_id = stock.id GROUP BY stock.id "
        "HAVING stock.quantity <> coalesce(sum(stock_movements.quantity), 0) "
        "OR stock.quarantined <> coalesce(sum(stock_movements.quarantined), 0)"
    )
    assert differing == []
