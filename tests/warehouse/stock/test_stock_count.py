"""Stock counts in files: the rows of one article and warehouse apply together, all or nothing."""

import asyncio
import io
from pathlib import Path

import pytest

from tests.support.goods import EAST, HEADER, LOTTED, PLAIN, SERIAL, Store, open_store
from tests.support.world import UNLIMITED, open_world
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.imports.file_kinds import KINDS, import_beside
from wmsd.warehouse.stock import count_staging

FULL = (
    "P,MAIN,,,10,2\nL,MAIN,L1,,5,\nL,MAIN,L2,,7.5,1\nL,MAIN,,,1,\n"
    "S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,1\nS,MAIN,,S3,1,\nS,EAST,X,,3,\n"
)


@pytest.fixture
async def full(store: Store) -> Store:
    await store.count(FULL)
    return store


async def test_opening_stock_says_its_lots_serials_and_quarantine(full: Store) -> None:
    assert await full.parts(PLAIN) == {(None, None): (10, 2)}
    assert await full.parts(LOTTED) == {("L1", None): (5, 0), ("L2", None): (7.5, 1), (None, None): (1, 0)}
    assert await full.parts(SERIAL) == {("X", "S1"): (1, 0), ("X", "S2"): (1, 1), (None, "S3"): (1, 0)}
    assert await full.balance(LOTTED) == (13.5, 1, 12.5)
    assert (await full.ledger())[0] == ("count", 10, 2, None, None, "stock count")
    await full.is_right()


@pytest.mark.parametrize("at_once", [1, 2, 5])
async def test_a_long_count_is_planned_some_places_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(count_staging, "CHUNK", at_once)
    outcome = await store.count(FULL)
    assert (outcome.updated, outcome.unchanged) == (8, 0)
    outcome = await store.count("S,EAST,X,S1,1,\nP,MAIN,,,10,2\nS,MAIN,X,S2,1,1\nS,MAIN,,S3,1,\nP,EAST,,,1,\n")
    assert (outcome.updated, outcome.unchanged) == (4, 3)
    assert [each[:2] for each in outcome.changed] == [("S", "EAST")] * 2 + [("S", "MAIN"), ("P", "EAST")]
    assert await store.parts(SERIAL, EAST) == {("X", "S1"): (1, 0)}
    assert await store.parts(SERIAL) == {("X", "S2"): (1, 1), (None, "S3"): (1, 0)}
    assert await store.count_refused("P,EAST,,,1,\nP,MAIN,,,9,\nS,MAIN,X,S1,1,\nP,EAST,,,2,\nQ,MAIN,,,1,\n") == [
        (4, "serial", "S1 is in stock in EAST already"),
        (5, "article_code", "is counted twice in this warehouse; first in row 2"),
        (6, "article_code", "is not an article of this company"),
    ]
    await store.is_right()


async def test_many_serials_go_to_another_warehouse(store: Store) -> None:
    """Each serial leaves before it enters, although its new place comes first in the file."""
    serials = [f"S{number}" for number in range(1500)]
    await store.count("".join(f"S,EAST,X,{serial},1,\n" for serial in serials))
    outcome = await store.count("".join(f"S,MAIN,Y,{serial},1,\n" for serial in serials) + "S,EAST,X,S0,0,\n")
    assert outcome.updated == 2 * len(serials)
    assert await store.parts(SERIAL, EAST) == {}
    assert await store.parts(SERIAL) == {("Y", serial): (1, 0) for serial in serials}
    await store.is_right()


async def test_what_differs_is_told_once_for_each_record(full: Store) -> None:
    before = await full.world.last_event()
    outcome = await full.count("L,MAIN,L2,,7.5,0\nL,MAIN,L1,,6,\nL,MAIN,L3,,2,\nP,MAIN,,,10,\n")
    assert [(each.change.goods.lot_number, each.change.before, each.change.after) for each in outcome.changed] == [
        ("L1", (5_000_000, 0), (6_000_000, 0)),
        ("L2", (7_500_000, 1_000_000), (7_500_000, 0)),
        (None, (1_000_000, 0), (0, 0)),
        ("L3", (0, 0), (2_000_000, 0)),
    ]
    assert (outcome.created, outcome.updated, outcome.unchanged) == (0, 4, 1)
    told = await full.world.events_after(before)
    assert [(name, data["quantity"], data["available"]) for name, data in told] == [("stock.updated", 15.5, 15.5)]
    await full.is_right()


async def test_lots_and_serials_that_are_not_named_are_gone(full: Store) -> None:
    await full.count("L,MAIN,L1,,5,\nS,MAIN,X,S1,1,\n")
    assert await full.parts(LOTTED) == {("L1", None): (5, 0)}
    assert await full.parts(SERIAL) == {("X", "S1"): (1, 0)}
    await full.is_right()


async def test_a_row_without_lot_and_serial_is_the_total(full: Store) -> None:
    await full.count("P,MAIN,,,3,\nL,MAIN,,,12.5,\nS,EAST,,,4,\n")
    assert await full.balance(PLAIN) == (3, 2, 1)
    assert await full.parts(LOTTED) == {("L1", None): (5, 0), ("L2", None): (7.5, 1)}
    assert await full.parts(SERIAL, EAST) == {("X", None): (3, 0), (None, None): (1, 0)}
    await full.count("P,MAIN,,,3,0\n")
    assert await full.balance(PLAIN) == (3, 0, 3)
    await full.is_right()


async def test_a_serial_moves_to_where_it_was_found(full: Store) -> None:
    await full.count("S,MAIN,X,S2,1,\nS,MAIN,Y,S3,1,\nS,EAST,X,,3,\nS,EAST,X,S1,1,\nS,MAIN,X,S1,0,\n")
    assert await full.parts(SERIAL) == {("X", "S2"): (1, 1), ("Y", "S3"): (1, 0)}
    assert await full.parts(SERIAL, EAST) == {("X", "S1"): (1, 0), ("X", None): (3, 0)}
    await full.is_right()


async def test_reasons(full: Store) -> None:
    header = "article_code,warehouse_code,quantity,lot_number,reason\n"
    await full.count("L,MAIN,4,L1,Leaked\nL,MAIN,7,L2,\nP,MAIN,9,,\n", header, reason="Yearly")
    assert [(row[3], row[5]) for row in (await full.ledger())[8:]] == [
        ("L1", "Leaked"),
        ("L2", "Leaked"),
        (None, "Leaked"),
        (None, "Yearly"),
    ]


async def test_a_complete_count_takes_away_what_was_not_found(full: Store) -> None:
    outcome = await full.count("P,MAIN,,,10,\n", complete=True)
    assert (outcome.updated, outcome.unchanged) == (6, 1)
    assert await full.parts(LOTTED) == await full.parts(SERIAL) == {}
    assert await full.balance(SERIAL, EAST) == (3, 0, 3), "the file does not name that warehouse"
    await full.is_right()


async def test_a_complete_count_is_refused_for_each_article_that_orders_hold(full: Store) -> None:
    await full.order(LOTTED, 4)
    await full.order(SERIAL, 1, serials=["S1"])
    assert await full.count_refused("P,MAIN,,,10,\n", complete=True) == [
        (
            0,
            "L in MAIN",
            "has no row in the file, so its stock would become 0, but orders have reserved 4: add a row for "
            "this article",
        ),
        (
            0,
            "S in MAIN",
            "has no row in the file, so its stock would become 0, but orders have reserved 1: add a row for "
            "this article",
        ),
    ]


REFUSED = {
    "codes": (
        "Z,MAIN,,,1,\nP,WEST,,,1,\n",
        [
            (2, "article_code", "is not an article of this company"),
            (3, "warehouse_code", "is not a warehouse of this company"),
        ],
    ),
    "twice": (
        "P,MAIN,,,1,0\nP,MAIN,,,1,0\nL,MAIN,L1,,1,\nL,MAIN,L1,,1,\nS,MAIN,X,S1,1,\nS,MAIN,X,S1,1,\nS,EAST,X,S1,1,\n",
        [
            (3, "article_code", "is counted twice in this warehouse; first in row 2"),
            (5, "lot_number", "is counted twice in this warehouse; first in row 4"),
            (7, "serial", "is counted twice in this warehouse; first in row 6"),
            (8, "serial", "is counted twice; first in row 6"),
        ],
    ),
    "amounts": (
        "P,MAIN,,,1,2\nL,MAIN,L1,,-1,\nL,EAST,L1,,0.0000001,1000000000\nS,MAIN,X,S1,2,\nS,MAIN,X,S2,1,0.5\n",
        [
            (2, "quarantined", "must be at most the counted quantity"),
            (3, "quantity", "must not be below 0"),
            (4, "quantity", "must have at most 6 decimal places"),
            (4, "quarantined", "must be at most 999999999.999999"),
            (5, "quantity", "must be 1, or 0 if the serial was not found"),
            (6, "quarantined", "must be 0 or 1: a serial is one unit"),
        ],
    ),
    "texts": (
        f"L,MAIN, L1,,1,\nS,MAIN,,{'x' * 65},1,\n",
        [
            (2, "lot_number", "must not begin or end with a space"),
            (3, "serial", "must have at most 64 characters"),
        ],
    ),
    "serials that cannot be": (
        "P,MAIN,,S1,1,\nS,EAST,X,S1,1,\nS,EAST,X,,1.5,\n",
        [
            (2, "serial", "must be empty: the article is not tracked by serials"),
            (4, "quantity", "must be a whole number: the article is tracked by serials"),
            (3, "serial", "S1 is in stock in MAIN already"),
        ],
    ),
    "which are gone": (
        "L,MAIN,,,9,\nS,MAIN,,,2,\n",
        [
            (
                2,
                "quantity",
                (
                    "would remove 4.5, but only 1 without a lot or serial are in stock; for a "
                    "larger quantity, name the lots or serials"
                ),
            ),
            (
                3,
                "quantity",
                (
                    "would remove 1, but only 0 without a lot or serial are in stock; for a "
                    "larger quantity, name the lots or serials"
                ),
            ),
        ],
    ),
    "quarantine of which": (
        "L,MAIN,,,13.5,0\nP,MAIN,,,1,\n",
        [
            (
                2,
                "quarantined",
                "is too low: 1 of the quarantined units have a lot or serial. Enter these lots or serials too",
            ),
            (3, "quantity", "must be at least 2, because this quantity is reserved or in quarantine"),
        ],
    ),
    "less than is in quarantine": (
        "L,MAIN,L2,,0.5,\n",
        [
            (
                2,
                "quantity",
                "is less than the quantity in quarantine (1): also enter the new quantity in quarantine",
            )
        ],
    ),
    "too much together": (
        "L,MAIN,L1,,999999999,\nL,MAIN,L2,,1,0\n",
        [(2, "quantity", "would raise the stock balance above 999999999.999999")],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_count_with_a_fault_is_refused_whole(full: Store, case: str) -> None:
    rows, errors = REFUSED[case]
    assert sorted(await full.count_refused(rows)) == sorted(errors)


async def test_orders_keep_what_they_hold(full: Store) -> None:
    await full.order(PLAIN, 5)
    await full.order(LOTTED, 4, lot_number="L1")
    await full.order(LOTTED, 6)
    await full.order(SERIAL, 1, serials=["S1"])
    assert await full.count_refused("P,MAIN,,,6,\nL,MAIN,L2,,20,\nS,MAIN,X,S2,1,\n") == [
        (2, "quantity", "must be at least 7, because this quantity is reserved or in quarantine"),
        (3, "quantity", "is not possible: only 0 of lot L1 would be left to sell, but orders have reserved 4"),
        (
            4,
            "serial",
            "S1 is reserved by an order: the serial must stay in stock, in the same lot, and must not enter or "
            "leave quarantine",
        ),
    ]
    assert await full.count_refused("L,MAIN,L1,,4,\nL,MAIN,L3,,5,\nS,MAIN,Y,S1,1,\n") == [
        (2, "quantity", "is not possible: only 9 would be left to sell, but orders have reserved 10"),
        (
            4,
            "serial",
            "S1 is reserved by an order: the serial must stay in stock, in the same lot, and must not enter or "
            "leave quarantine",
        ),
    ]
    await full.count("L,MAIN,L1,,4,\nL,MAIN,L3,,6,\nS,MAIN,X,S1,1,\n")
    assert await full.balance(LOTTED) == (10, 0, 0)
    await full.is_right()


async def test_an_order_that_reserved_since_the_preview_is_told(full: Store) -> None:
    before = await full.everything()
    staging = (await full.world.database()).staging()
    outcome = import_beside(staging, KINDS["stock-count"], io.StringIO(f"{HEADER}P,MAIN,,,4,\n"), dry_run=True)
    staging.close()
    assert (outcome.updated, await full.everything()) == (1, before)
    await full.order(PLAIN, 3)
    assert await full.count_refused("P,MAIN,,,4,\n") == [
        (2, "quantity", "must be at least 5, because this quantity is reserved or in quarantine")
    ]


async def test_orders_and_a_count_at_once_are_one_after_the_other(full: Store) -> None:
    """Whichever comes first, the other sees its result."""
    lines = [{"article_id": PLAIN, "quantity": 1}]
    body = {"partner_id": 1, "warehouse_id": 1, "lines": lines}
    for counted in (5, 4, 3):
        done = await asyncio.gather(
            *(full.world.send("POST", "/api/sales-orders", body) for _ in range(2)),
            full.count(f"P,MAIN,,,{counted},\n"),
            *(full.world.send("POST", "/api/sales-orders", body) for _ in range(2)),
            return_exceptions=True,
        )
        created = sum(getattr(answer, "status", 0) == 201 for answer in done)
        assert all(getattr(answer, "status", 201) in (201, 422) for answer in done)
        refused = isinstance(done[2], ImportRefused)
        quantity, _, available = await full.balance(PLAIN)
        assert refused or (quantity == counted and created <= counted - 2)
        assert available >= 0
        await full.is_right()


async def test_what_is_exported_is_taken_back_unchanged(full: Store) -> None:
    exported = await full.export()
    assert exported.splitlines()[:4] == [
        "article_code,warehouse_code,quantity,lot_number,serial,quarantined,reason",
        "P,MAIN,10,,,2,",
        "L,MAIN,5,L1,,0,",
        "L,MAIN,7.5,L2,,1,",
    ]
    before = await full.everything()
    header, _, rows = exported.partition("\n")
    outcome = await full.count(rows, header + "\n", complete=True)
    assert (outcome.updated, outcome.unchanged) == (0, 8)
    assert await full.everything() == before


async def test_an_export_makes_an_empty_company_the_same(full: Store, tmp_path: Path) -> None:
    await full.load(await full.order(LOTTED, 5))
    await full.count("P,EAST,,,0,\nS,MAIN,Y,S9,1,\nS,MAIN,X,S2,1,\nS,MAIN,X,S1,1,\nS,MAIN,X,,2,1\n")
    exported = await full.export()
    header, _, rows = exported.partition("\n")
    async with open_world(tmp_path / "other", UNLIMITED) as world:
        other = await open_store(world)
        await other.count(rows, header + "\n")
        assert await other.export() == exported
        for sql in (
            "SELECT article_id, warehouse_id, quantity, quarantined FROM stock ORDER BY id",
            "SELECT stock_id, lot_number, quantity FROM stock_lots WHERE quantity > 0 ORDER BY stock_id, id",
            "SELECT article_id, serial, stock_id, lot_number, quarantined FROM stock_serials ORDER BY serial",
        ):
            assert await other.world.rows(sql) == await full.world.rows(sql)
        await other.is_right()


@pytest.mark.parametrize("found", ["S,EAST,X,S2,1,\nS,MAIN,X,S2,0,\n", "S,EAST,,,3,\nS,MAIN,Y,S2,1,\n"])
async def test_a_serial_that_moves_stays_in_quarantine_when_the_count_does_not_say(
    full: Store, found: str
) -> None:
    await full.count(found)
    moved = {**await full.parts(SERIAL, EAST), **await full.parts(SERIAL)}
    assert [there for (_, serial), there in moved.items() if serial == "S2"] == [(1, 1)]
    await full.is_right()
    await full.count(found.replace("S2,1,", "S2,1,0"))
    moved = {**await full.parts(SERIAL, EAST), **await full.parts(SERIAL)}
    assert [there for (_, serial), there in moved.items() if serial == "S2"] == [(1, 0)]
