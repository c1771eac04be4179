"""Packaging: balances are the sums of an append-only ledger, and each movement causes an event."""

import asyncio
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.warehouse.packaging.depot import MOVEMENTS, Depot
from wmsd.base.problems import Problem
from wmsd.base.quantity import MAXIMUM, SCALE
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.packaging.actions import check_movement, record_by_hand
from wmsd.warehouse.packaging.packaging_ledger import Document, Movement, record_movement, reverse_document
from wmsd.warehouse.packaging.packaging_lines import find_movements
from wmsd.warehouse.packaging.schema import Direction, PackagingLine

LARGEST = MAXIMUM / SCALE


async def test_what_goes_out_the_partner_owes_and_what_comes_in_it_does_not(depot: Depot) -> None:
    await depot.move("OUT", 12.5)
    await depot.move("IN", 2.25)
    await depot.move("IN", 0.000001, partner=2)
    await depot.move("OUT", 7, packaging_type=2)
    assert await depot.balances() == {("PAL", 1): 10.25, ("PAL", 2): -0.000001, ("CRATE", 1): 7}
    await depot.move("IN", 20)
    assert (await depot.balances())["PAL", 1] == -9.75, "we may owe the partner"


async def test_a_movement_is_told_with_the_new_balance(depot: Depot) -> None:
    await depot.move("OUT", 5)
    movement = {
        "id": 2,
        "code": "PM-000002",
        "packaging_type_id": 1,
        "packaging_type_code": "PAL",
        "partner_id": 1,
        "direction": "IN",
        "quantity": 7.5,
        "document_type": "reception",
        "document_id": 9,
        "occurred_at": "2026-11-19T08:00:00.000Z",
        "notes": "wet",
        "created_at": "2026-11-20T12:00:00.000Z",
        "updated_at": "2026-11-20T12:00:00.000Z",
    }
    events = await depot.move(
        "IN", 7.5, document=Document("reception", 9), occurred_at="2026-11-19T08:00:00.000Z", notes="wet"
    )
    assert events == [("packaging.movement_recorded", {**movement, "balance": -2.5})]
    assert (await depot.world.call("GET", MOVEMENTS)).body["data"][1] == movement


async def test_several_movements_in_one_unit_of_work_are_told_one_by_one(depot: Depot) -> None:
    def several(tx: Transaction) -> None:
        for quantity in (5, 7, 3):
            record_movement(tx, Movement(1, 1, "OUT", quantity * SCALE))

    before = await depot.world.last_event()
    await (await depot.world.database()).write(several)
    told = [(data["quantity"], data["balance"]) for _, data in await depot.world.events_after(before)]
    assert told == [(5, 5), (7, 12), (3, 15)]


async def test_events_are_counted_for_billing(depot: Depot) -> None:
    await depot.move("OUT", 5)
    await depot.move("IN", 5)
    assert await depot.world.rows("SELECT * FROM event_counts") == [("2026-11", "packaging.movement_recorded", 2)]


async def test_the_ledger_says_who_recorded_what(depot: Depot) -> None:
    await depot.move("OUT", 5)
    rows = await depot.world.rows("SELECT code, direction, quantity, actor FROM packaging_movements")
    assert rows == [("PM-000001", "OUT", 5_000_000, "wmsd")]


async def test_the_ledger_is_append_only(depot: Depot) -> None:
    await depot.move("OUT", 5)
    database = await depot.world.database()
    for statement in ("UPDATE packaging_movements SET notes = 'x'", "DELETE FROM packaging_movements"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            await database.write(partial(Transaction.execute, sql=statement))


@pytest.mark.parametrize(("direction", "sign"), [("OUT", ""), ("IN", "-")])
async def test_a_balance_has_bounds_either_way(depot: Depot, direction: Direction, sign: str) -> None:
    await depot.move(direction, LARGEST)
    before = await depot.world.last_event()
    with pytest.raises(Problem) as raised:
        await depot.move(direction, 0.000001)
    assert (raised.value.status, raised.value.code) == (422, "VALIDATION_FAILED")
    assert raised.value.errors == {
        "quantity": [f"would change the balance to {sign}1000000000, beyond the limit of 999999999.999999"]
    }
    assert await depot.world.events_after(before) == []
    assert await depot.codes() == ["PM-000001"]
    back: Direction = "IN" if direction == "OUT" else "OUT"
    assert [data["code"] for _, data in await depot.move(back, LARGEST)] == ["PM-000002"]
    assert await depot.balances() == {("PAL", 1): 0}


def by_hand(tx: Transaction, **changes: Any) -> int:
    usual = {"packaging_type_code": "PAL", "partner_code": "P1", "direction": "OUT", "quantity": 1}
    return record_by_hand(tx, check_movement(tx, {**usual, **changes}))


async def test_many_at_once_lose_nothing_and_a_refused_one_leaves_no_gap(depot: Depot) -> None:
    database = await depot.world.database()
    partners = ["P1" if number % 3 else "P9" for number in range(30)]
    results = await asyncio.gather(
        *(database.write(partial(by_hand, partner_code=code)) for code in partners), return_exceptions=True
    )
    assert sum(isinstance(result, Problem) for result in results) == 10
    assert await depot.codes() == [f"PM-{number:06d}" for number in range(1, 21)]
    assert await depot.balances() == {("PAL", 1): 20}


async def test_a_code_that_was_given_by_hand_is_passed_over(depot: Depot) -> None:
    database = await depot.world.database()
    for code in (None, "PM-000003", "DN 7", None, None):
        await database.write(partial(by_hand, code=code))
    assert await depot.codes() == ["PM-000001", "PM-000003", "DN 7", "PM-000002", "PM-000004"]


async def test_all_that_is_wrong_by_hand_is_told_at_once(depot: Depot) -> None:
    wrong: dict[str, Any] = {"packaging_type_code": "pal", "partner_code": "P9", "direction": "UP", "quantity": 0}
    with pytest.raises(Problem) as raised:
        await (await depot.world.database()).write(partial(by_hand, **wrong, occurred_at="2026-11-20"))
    assert raised.value.errors == {
        "packaging_type_code": ["is not a packaging type of this company"],
        "partner_code": ["is not a partner of this company"],
        "direction": ["must be 'IN' or 'OUT'"],
        "quantity": ["must be greater than 0"],
        "occurred_at": ["must have an offset from UTC, such as Z or +02:00"],
    }


async def test_a_document_takes_back_what_it_moved(depot: Depot) -> None:
    order, other = Document("sales_order", 1), Document("sales_order", 2)
    await depot.move("OUT", 10, document=order)
    await depot.move("IN", 4, document=order)
    await depot.move("IN", 3, packaging_type=2, document=order)
    await depot.move("OUT", 2, partner=2, document=order)
    await depot.move("IN", 2, partner=2, document=order)
    await depot.move("OUT", 100, document=other)
    await depot.move("OUT", 1000)
    before = await depot.world.last_event()
    database = await depot.world.database()
    assert await database.write(partial(reverse_document, document=order)) == [8, 9]
    told = [data for _, data in await depot.world.events_after(before)]
    assert [(data["packaging_type_code"], data["direction"], data["quantity"]) for data in told] == [
        ("PAL", "IN", 6),
        ("CRATE", "OUT", 3),
    ]
    assert {(data["document_type"], data["document_id"]) for data in told} == {("sales_order", 1)}
    assert await depot.balances() == {("PAL", 1): 1100, ("CRATE", 1): 0, ("PAL", 2): 0}
    assert await database.write(partial(reverse_document, document=order)) == [], (
        "there is nothing left to take back"
    )


async def test_lines_of_a_document_become_its_movements(depot: Depot) -> None:
    lines = [
        PackagingLine(packaging_type_id=2, quantity=1),
        PackagingLine(packaging_type_code="PAL", quantity=2),
        PackagingLine(packaging_type_id=1, packaging_type_code="PAL", quantity=3),
    ]
    moment = "2026-11-19T08:00:00.000Z"
    database = await depot.world.database()
    found, errors = await database.read(lambda tx: find_movements(tx, lines, 2, "OUT", moment))
    assert errors == []
    assert found == [
        Movement(type_id, 2, "OUT", quantity * SCALE, occurred_at=moment)
        for type_id, quantity in ((2, 1), (1, 2), (1, 3))
    ]


async def test_every_error_of_the_lines_is_found_at_its_path(depot: Depot) -> None:
    await depot.move("OUT", LARGEST - 5)
    lines = [
        PackagingLine(quantity=1),
        PackagingLine(packaging_type_id=9, quantity=1),
        PackagingLine(packaging_type_code="pal", quantity=1),
        PackagingLine(packaging_type_id=1, packaging_type_code="CRATE", quantity=1),
        PackagingLine(packaging_type_id=9, packaging_type_code="PAL", quantity=1),
        PackagingLine(packaging_type_id=1, quantity=4),
        PackagingLine(packaging_type_code="PAL", quantity=2),
    ]
    database = await depot.world.database()
    _, errors = await database.read(lambda tx: find_movements(tx, lines, 1, "OUT"))
    assert {error.code for error in errors} == {"VALIDATION_FAILED"}
    assert [(error.path, error.sentence) for error in errors] == [
        ("packaging.0.packaging_type_id", "is required unless packaging_type_code is given"),
        ("packaging.1.packaging_type_id", "is not a packaging type of this company"),
        ("packaging.2.packaging_type_code", "is not a packaging type of this company"),
        ("packaging.3.packaging_type_code", "is not the code of packaging type 1"),
        ("packaging.4.packaging_type_id", "is not a packaging type of this company"),
        (
            "packaging.6.quantity",
            "would change the balance to 1000000000.999999, beyond the limit of 999999999.999999",
        ),
    ]


MOVES = st.tuples(st.integers(1, 2), st.integers(1, 2), st.sampled_from(("IN", "OUT")), st.integers(1, MAXIMUM))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(MOVES, max_size=12))
async def test_balances_are_the_sums_of_the_ledger(
    depot: Depot, moves: list[tuple[int, int, Direction, int]]
) -> None:
    database = await depot.world.database()
    for type_id, partner_id, direction, quantity in moves:
        try:
            movement = Movement(type_id, partner_id, direction, quantity)
            await database.write(partial(record_movement, movement=movement))
        except Problem as problem:
            assert "past 999999999.999999" in problem.errors["quantity"][0]
    assert (await depot.examined()).differences == []


PROMISE = "a packaging balance must equal the sum of its movements"
DAMAGE = {
    "a balance": ("UPDATE packaging_balances SET quantity = 6500000 WHERE id = 1", [("PAL of P1", "5", "6.5")]),
    "a balance that is gone": ("DELETE FROM packaging_balances WHERE id = 1", [("PAL of P1", "5", "0")]),
    "a balance of nothing": (
        "INSERT INTO packaging_balances VALUES (9, 2, 1, -1, -1, '', '')",
        [("CRATE of P1", "0", "-0.000001")],
    ),
    "a movement": (
        "INSERT INTO packaging_movements VALUES (9, 'X', 1, 2, 'IN', 1, NULL, NULL, '', NULL, '', '', '')",
        [("PAL of P2", "-3.000001", "-3")],
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_the_doctor_finds_a_balance_that_was_tampered_with(depot: Depot, damage: str) -> None:
    await depot.move("OUT", 5)
    await depot.move("IN", 3, partner=2)
    findings = await depot.examined()
    assert (findings.differences, findings.rows) == ([], 4)
    statement, expected = DAMAGE[damage]
    await (await depot.world.database()).write(lambda tx: tx.execute(statement))
    found = [
        (each.record, each.expected, each.found)
        for each in (await depot.examined()).differences
        if each.promise == PROMISE
    ]
    assert found == expected
