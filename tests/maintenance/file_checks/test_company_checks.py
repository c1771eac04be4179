"""The doctor finds every total that is not the sum of its parts."""

from functools import partial

import pytest

from tests.support.goods import LOTTED, SERIAL, Store
from tests.support.shop import Shop
from wmsd.db.engine.transaction import Transaction
from wmsd.maintenance.file_checks.company_checks import CHECKS, Findings, examine


@pytest.fixture
async def busy(shop: Shop) -> Shop:
    """Create an order in each status."""
    for status in ("CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT", "ANULAT"):
        await shop.order(status=status)
    return shop


async def examined(shop: Shop) -> Findings:
    return await (await shop.world.database()).read_long(examine)


async def test_a_file_that_was_only_used_is_right(busy: Shop) -> None:
    findings = await examined(busy)
    assert findings.differences == []
    assert findings.rows == 3 + 5 + 5 + 5 + 2


DAMAGE = {
    "quantity": (
        "UPDATE stock SET quantity = quantity + 1500000 WHERE id = 1",
        ("a stock quantity must equal the sum of its movements", "A in MAIN", "14", "15.5"),
    ),
    "reserved": (
        "UPDATE stock SET reserved = reserved - 1 WHERE id = 1",
        ("a reserved quantity must equal the sum of its reservations", "A in MAIN", "6", "5.999999"),
    ),
    "quarantined": (
        "UPDATE stock SET quarantined = 1000000 WHERE id = 2",
        ("a stock quantity must equal the sum of its movements", "B in MAIN, quarantined", "0", "1"),
    ),
    "a reservation too many": (
        "INSERT INTO reservations VALUES ('sales_order', 5, 1, 1000000)",
        (
            "an open sales order must reserve the quantity of its lines, and a sales order that is not open "
            "must reserve nothing",
            "SO-000005",
            "0",
            "1",
        ),
    ),
    "a reservation too few": (
        "DELETE FROM reservations WHERE holder_id = 1",
        (
            "an open sales order must reserve the quantity of its lines, and a sales order that is not open "
            "must reserve nothing",
            "SO-000001",
            "3",
            "0",
        ),
    ),
    "a line that was not shipped": (
        "UPDATE sales_order_lines SET quantity = 4000000 WHERE sales_order_id = 4",
        (
            "the ledger must have every line of a sales order that is INCARCAT or LIVRAT, and no line of any "
            "other sales order",
            "SO-000004, line 4",
            "4",
            "3",
        ),
    ),
    "a status": (
        "UPDATE sales_orders SET status = 'LIVRAT' WHERE id = 3",
        ("the status of a sales order must be the last status in its history", "SO-000003", "INCARCAT", "LIVRAT"),
    ),
    "a count": (
        "UPDATE sales_order_counts SET rows = 9 WHERE status = 'CREAT'",
        ("the number of sales orders must equal the stored total", "partner 1, status CREAT", "1", "9"),
    ),
    "a total": (
        "UPDATE row_counts SET rows = 9 WHERE name = 'articles'",
        ("the stored total of a list must equal the number of its records", "articles", "3", "9"),
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_each_kind_of_damage_is_named(busy: Shop, damage: str) -> None:
    statement, expected = DAMAGE[damage]
    await (await busy.world.database()).write(lambda tx: tx.execute(statement))
    found = [(d.promise, d.record, d.expected, d.found) for d in (await examined(busy)).differences]
    assert expected in found


@pytest.fixture
async def lots(store: Store) -> Store:
    """Stock the lotted article with 5 of L1, 3 of L2 (1 quarantined) and 1 without a lot. Stock the serial article
    with S1, S2 (quarantined) and one unnamed serial of lot X, and S3 without a lot. One order reserves 2 of L1,
    another order S1.
    """
    await store.count("L,MAIN,L1,,5,\nL,MAIN,L2,,3,1\nL,MAIN,,,1,\n")
    await store.count("S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,1\nS,MAIN,X,,1,\nS,MAIN,,S3,1,\n")
    await store.order(LOTTED, 2, lot_number="L1")
    await store.order(SERIAL, 1, serials=["S1"])
    return store


LOT_DAMAGE = {
    "a lot's quantity": (
        "UPDATE stock_lots SET quantity = quantity - 500000 WHERE lot_number = 'L1'",
        ("a lot's quantity must equal the sum of its movements", "L in MAIN, lot L1", "5", "4.5"),
    ),
    "what is low": (
        "UPDATE stock SET is_low = 1 WHERE id = 1",
        (
            "stock must be marked as low (1) if the available quantity is at most the minimum, otherwise as "
            "not low (0)",
            "L in MAIN",
            "0",
            "1",
        ),
    ),
    "what was never in stock": (
        "UPDATE articles SET is_stocked = 0 WHERE code = 'L'",
        (
            "an article must be marked as stocked (1) if a warehouse has a stock record of it, otherwise as "
            "not stocked (0)",
            "L",
            "1",
            "0",
        ),
    ),
    "a lot that is gone": (
        "DELETE FROM stock_lots WHERE lot_number = 'L2'",
        ("a lot's quantity must equal the sum of its movements", "L in MAIN, lot L2", "3", "0"),
    ),
    "a lot that never came": (
        "INSERT INTO stock_lots (stock_id, lot_number, quantity) VALUES (1, 'L9', 1000000)",
        ("a lot's quantity must equal the sum of its movements", "L in MAIN, lot L9", "0", "1"),
    ),
    "a lot's quarantine": (
        "UPDATE stock_lots SET quarantined = 0 WHERE lot_number = 'L2'",
        ("the quarantined quantity of a lot must equal the sum of its movements", "L in MAIN, lot L2", "1", "0"),
    ),
    "a lot's reservations": (
        "UPDATE stock_lots SET reserved = 1000000 WHERE lot_number = 'L1'",
        ("the reserved quantity of a lot must equal the sum of its reservations", "L in MAIN, lot L1", "2", "1"),
    ),
    "a reservation of a lot": (
        "DELETE FROM lot_reservations",
        ("the reserved quantity of a lot must equal the sum of its reservations", "S in MAIN, lot X", "0", "1"),
    ),
    "lots together": (
        "UPDATE stock_lots SET quantity = 7000000 WHERE lot_number = 'L1'",
        (
            "the lots of a stock record must together have at most the quantity of the stock record",
            "L in MAIN",
            "9",
            "10",
        ),
    ),
    "lots reserved together": (
        "UPDATE stock SET reserved = 1000000 WHERE id = 1",
        (
            "the lots of a stock record must together have at most the quantity of the stock record",
            "L in MAIN, reserved",
            "1",
            "2",
        ),
    ),
    "lots quarantined together": (
        "UPDATE stock SET quarantined = 0 WHERE id = 1",
        (
            "the lots of a stock record must together have at most the quantity of the stock record",
            "L in MAIN, quarantined",
            "0",
            "1",
        ),
    ),
    "lots not quarantined together": (
        "UPDATE stock SET quarantined = 3000000 WHERE id = 1",
        (
            "the lots of a stock record must together have at most the quantity of the stock record",
            "L in MAIN, not quarantined",
            "6",
            "7",
        ),
    ),
    "a serial that is gone": (
        "DELETE FROM stock_serials WHERE serial = 'S3'",
        (
            "a serial must be in a stock record exactly when the sum of its movements there is 1",
            "S in MAIN, serial S3",
            "1",
            "0",
        ),
    ),
    "a serial that never came": (
        "INSERT INTO stock_serials (article_id, serial, stock_id) VALUES (3, 'S9', 2)",
        (
            "a serial must be in a stock record exactly when the sum of its movements there is 1",
            "S in MAIN, serial S9",
            "0",
            "1",
        ),
    ),
    "a serial of another lot": (
        "UPDATE stock_serials SET lot_number = 'X' WHERE serial = 'S3'",
        (
            "a serial must be in a stock record exactly when the sum of its movements there is 1",
            "S in MAIN, lot X, serial S3",
            "0",
            "1",
        ),
    ),
    "a serial's quarantine": (
        "UPDATE stock_serials SET quarantined = 0 WHERE serial = 'S2'",
        (
            "a serial must be in quarantine exactly when its movements have put it there",
            "S in MAIN, lot X, serial S2",
            "1",
            "0",
        ),
    ),
    "more serials than the lot": (
        "UPDATE stock_lots SET quantity = 2000000, reserved = 0, quarantined = 0 WHERE lot_number = 'X';"
        "UPDATE stock_serials SET lot_number = 'X' WHERE serial = 'S3'",
        ("a lot or stock record must have at most as many serials as units", "S in MAIN, lot X", "2", "3"),
    ),
    "more serials than have no lot": (
        "UPDATE stock SET quantity = 3000000 WHERE id = 2",
        ("a lot or stock record must have at most as many serials as units", "S in MAIN", "0", "1"),
    ),
    "more quarantined serials than of the lot": (
        "UPDATE stock_lots SET quarantined = 0 WHERE lot_number = 'X'",
        (
            "a lot or stock record must have at most as many serials as units",
            "S in MAIN, lot X, quarantined",
            "0",
            "1",
        ),
    ),
    "fewer quarantined serials than of the lot": (
        "UPDATE stock_serials SET quarantined = 0; UPDATE stock_lots SET reserved = 0, quarantined = 2000000",
        (
            "a lot or stock record must have at most as many serials as units",
            "S in MAIN, lot X, not quarantined",
            "1",
            "2",
        ),
    ),
}


async def test_lots_and_serials_that_were_only_used_are_right(lots: Store) -> None:
    await lots.is_right()


@pytest.mark.parametrize("damage", LOT_DAMAGE)
async def test_each_kind_of_damage_to_lots_is_named(lots: Store, damage: str) -> None:
    statements, expected = LOT_DAMAGE[damage]
    database = await lots.world.database()
    for statement in statements.split(";"):
        await database.write(partial(Transaction.execute, sql=statement))
    findings = await database.read_long(examine)
    assert expected in [(d.promise, d.record, d.expected, d.found) for d in findings.differences]


LOOPS = ("SCAN ", "SEARCH ")


def scans_within_loops(tx: Transaction, sql: str) -> list[str]:
    """Return the scans of a whole table or of a subquery's result that SQLite repeats for each row of another
    table.
    """
    repeated, outer = [], set()
    for _, parent, _, step in tx.rows(f"EXPLAIN QUERY PLAN {sql}"):
        if not step.startswith(LOOPS) or "CONSTANT ROW" in step:
            continue
        if parent in outer and step.startswith("SCAN ") and "VIRTUAL TABLE" not in step:
            repeated.append(step)
        outer.add(parent)
    return repeated


async def test_a_check_of_a_large_file_reads_no_table_again_for_each_row_of_another(busy: Shop) -> None:
    def repeated(tx: Transaction) -> dict[str, list[str]]:
        return {check.promise: scans for check in CHECKS if (scans := scans_within_loops(tx, check.differing))}

    assert await (await busy.world.database()).read(repeated) == {}


async def test_the_plan_of_a_full_join_would_be_noticed(busy: Shop) -> None:
    last = "SELECT article_id, max(id) AS id FROM stock GROUP BY article_id"
    sql = f"SELECT 1 FROM ({last}) FULL JOIN ({last}) USING (article_id)"
    assert await (await busy.world.database()).read(lambda tx: scans_within_loops(tx, sql))
