"""The doctor finds every difference between the ledger and the receptions, purchase orders and returns."""

import pytest

from tests.support.dock import LOT, SERIAL, Dock
from wmsd.maintenance.file_checks.company_checks import Findings, examine


@pytest.fixture
async def busy(dock: Dock) -> Dock:
    """Create PO-000001 of 10 A, 4 of them received by RC-000001; RC-000002, a draft; RT-000001, a finished return
    of the order SO-000001 of 3 A.
    """
    order = await dock.purchase((1, 10))
    await dock.receive(order, {"po_item_id": 1, "quantity_um3pl": 4})
    await dock.receive(order, {"po_item_id": 1, "quantity_um3pl": 2}, status="CREAT")
    sold = await dock.order(status="LIVRAT")
    line = {"article_id": 1, "quantity": 2, "disposition": "DISTRUS"}
    body = {"partner_id": 1, "warehouse_id": 1, "sales_order_id": sold.id, "lines": [line]}
    made = await dock.world.send("POST", "/api/returns", body)
    for status in ("RECEPTIONAT", "FINALIZAT"):
        await dock.world.send("PATCH", f"/api/returns/{made.id}", {"status": status})
    return dock


async def examined(dock: Dock) -> Findings:
    return await (await dock.world.database()).read_long(examine)


async def test_a_file_that_was_only_used_is_right(busy: Dock) -> None:
    assert (await examined(busy)).differences == []


DAMAGE = {
    "a posted item": (
        "UPDATE reception_items SET quantity = 5000000 WHERE id = 1",
        (
            "the ledger must have every line of a reception that is FINALIZAT, and no line of any other reception",
            "RC-000001, line 1",
            "5",
            "4",
        ),
    ),
    "a status that posted nothing": (
        "UPDATE receptions SET status = 'FINALIZAT' WHERE id = 2",
        ("the status of a reception must be the last status in its history", "RC-000002", "CREAT", "FINALIZAT"),
    ),
    "a received quantity": (
        "UPDATE purchase_order_items SET received_quantity = 10000000",
        (
            "the received quantity of a purchase order must equal the sum of its posted receptions",
            "PO-000001, item 1",
            "4",
            "10",
        ),
    ),
    "the status of an order": (
        "UPDATE purchase_orders SET status = 'CREAT'",
        (
            "the status of a purchase order must match its received quantity",
            "PO-000001",
            "PARTIAL or RECEPTIONAT",
            "CREAT",
        ),
    ),
    "a count": (
        "UPDATE reception_counts SET rows = 7 WHERE status = 'CREAT'",
        ("the number of receptions must equal the stored total", "status CREAT", "1", "7"),
    ),
    "a line that came back otherwise": (
        "UPDATE return_lines SET quantity = 3000000",
        (
            "the ledger must have every line of a return that is FINALIZAT, and no line of any other return",
            "RT-000001, line 1",
            "3",
            "2",
        ),
    ),
    "more than was shipped": (
        "UPDATE sales_order_lines SET quantity = 1000000",
        ("the returned quantity must be at most the shipped quantity", "SO-000001, A", "1", "2"),
    ),
    "a count of returns": (
        "UPDATE return_counts SET rows = 7 WHERE status = 'FINALIZAT'",
        ("the number of returns must equal the stored total", "partner 1, status FINALIZAT", "1", "7"),
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_each_kind_of_damage_is_named(busy: Dock, damage: str) -> None:
    statement, expected = DAMAGE[damage]
    await (await busy.world.database()).write(lambda tx: tx.execute(statement))
    found = [(d.promise, d.record, d.expected, d.found) for d in (await examined(busy)).differences]
    assert expected in found


NAMED = {
    "a serial that a closed order holds": (
        "UPDATE stock_serials SET holder_kind = 'sales_order', holder_id = 1 WHERE serial = 'S2'",
        (
            "an open sales order must reserve the serials that its lines name, and a sales order that is not "
            "open must reserve no serials",
            "SO-000001, serial S2",
            "free",
            "held",
        ),
    ),
    "a serial that is not held": (
        "UPDATE stock_serials SET holder_kind = NULL, holder_id = NULL",
        (
            "an open sales order must reserve the serials that its lines name, and a sales order that is not "
            "open must reserve no serials",
            "SO-000002, serial S1",
            "held",
            "free",
        ),
    ),
    "a lot that is held too much": (
        "UPDATE lot_reservations SET quantity = 3000000",
        (
            "an open sales order must reserve the quantity of each lot that its lines name, and a sales order "
            "that is not open must reserve nothing",
            "SO-000002, lot L1",
            "2",
            "3",
        ),
    ),
}


@pytest.mark.parametrize("damage", NAMED)
async def test_what_is_held_by_name_is_what_open_orders_name(busy: Dock, damage: str) -> None:
    await busy.bring(LOT, {"quantity_um3pl": 4, "lot_number": "L1"})
    await busy.bring(SERIAL, {"quantity_um3pl": 2, "serial_data": ["S1", "S2"]})
    lines = [
        {"article_id": LOT, "quantity": 2, "lot_number": "L1"},
        {"article_id": SERIAL, "quantity": 1, "serials": ["S1"]},
    ]
    await busy.order(*lines)
    assert (await examined(busy)).differences == []
    statement, expected = NAMED[damage]
    await (await busy.world.database()).write(lambda tx: tx.execute(statement))
    found = [(d.promise, d.record, d.expected, d.found) for d in (await examined(busy)).differences]
    assert expected in found
