"""The doctor finds every figure that is not the sum of what is under it."""

import pytest

from tests.support.shop import Shop
from wmsd.app.doctor import Findings, examine


@pytest.fixture
async def busy(shop: Shop) -> Shop:
    """An order in each status."""
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
        ("a quantity is the sum of its movements", "A in MAIN", "14", "15.5"),
    ),
    "reserved": (
        "UPDATE stock SET reserved = reserved - 1 WHERE id = 1",
        ("what is reserved is the sum of its reservations", "A in MAIN", "6", "5.999999"),
    ),
    "quarantined": (
        "UPDATE stock SET quarantined = 1000000 WHERE id = 2",
        ("what is quarantined is the sum of its movements", "B in MAIN", "0", "1"),
    ),
    "a reservation too many": (
        "INSERT INTO reservations VALUES (5, 1, 1000000)",
        ("an open order holds what its lines say, any other nothing", "SO-000005", "0", "1"),
    ),
    "a reservation too few": (
        "DELETE FROM reservations WHERE sales_order_id = 1",
        ("an open order holds what its lines say, any other nothing", "SO-000001", "3", "0"),
    ),
    "a line that was not shipped": (
        "UPDATE sales_order_lines SET quantity = 4000000 WHERE sales_order_id = 4",
        ("a loaded order has shipped what its lines say, any other nothing", "SO-000004, line 4", "4", "3"),
    ),
    "a status": (
        "UPDATE sales_orders SET status = 'LIVRAT' WHERE id = 3",
        ("the status of a sales order is the last that it reached", "SO-000003", "INCARCAT", "LIVRAT"),
    ),
    "a count": (
        "UPDATE sales_order_counts SET rows = 9 WHERE status = 'CREAT'",
        ("sales orders are as many as their counts say", "partner 1, status CREAT", "1", "9"),
    ),
    "a total": (
        "UPDATE row_counts SET rows = 9 WHERE name = 'articles'",
        ("a list's total is kept right", "articles", "3", "9"),
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_each_kind_of_damage_is_named(busy: Shop, damage: str) -> None:
    statement, expected = DAMAGE[damage]
    await (await busy.world.database()).write(lambda tx: tx.execute(statement))
    found = [(d.promise, d.record, d.expected, d.found) for d in (await examined(busy)).differences]
    assert expected in found
