"""Counts in CSV files and in the search index, and the doctor's findings about counts."""

import io

import pytest

from tests.support.goods import PLAIN, Store
from tests.warehouse.counts.counting import PATH, book, enter, make_count, shown
from wmsd.contract.bulk_imports import ImportRefused
from wmsd.imports.file_kinds import KINDS, export_csv
from wmsd.maintenance.file_checks.company_checks import examine

HEADER = "code,status,warehouse_code,article_code,lot_number,serial,counted_quantity\n"


@pytest.fixture
async def full(store: Store) -> Store:
    await store.count("P,MAIN,,,10,\nL,MAIN,L1,,5,\nL,MAIN,L2,,7,\n")
    return store


async def export(store: Store) -> str:
    file = io.StringIO()
    await (await store.world.database()).read_long(lambda tx: export_csv(tx, KINDS["counts"], file))
    return file.getvalue()


async def test_a_file_makes_a_count_and_enters_its_numbers(full: Store) -> None:
    outcome = await full.world.import_csv("counts", f"{HEADER}C1,,MAIN,P,,,\nC1,,MAIN,L,L1,,\n")
    assert (outcome.created, outcome.updated) == (1, 0)
    answer = await full.world.call("GET", f"{PATH}/1")
    assert (answer.body["code"], answer.body["status"]) == ("C1", "CREAT")
    outcome = await full.world.import_csv("counts", f"{HEADER}C1,,MAIN,P,,,8\nC1,,MAIN,L,L2,,6\n")
    assert (outcome.created, outcome.updated) == (0, 1)
    answer = await full.world.call("GET", f"{PATH}/1")
    assert answer.body["status"] == "IN_LUCRU"
    assert shown(answer, "lot_number", "difference") == [(None, -2), ("L1", None), ("L2", -1)]


async def test_a_file_that_names_the_status_books(full: Store) -> None:
    await full.world.import_csv("counts", f"{HEADER}C1,FINALIZAT,MAIN,P,,,8\n")
    assert await full.balance(PLAIN) == (8, 0, 8)
    history = (await full.world.call("GET", f"{PATH}/1")).body["status_history"]
    assert [each["status"] for each in history] == ["CREAT", "IN_LUCRU", "FINALIZAT"]
    await full.is_right()


async def test_an_export_is_taken_back_without_a_change(full: Store) -> None:
    await enter(full, await make_count(full), 4, None, 10, counted_at="2026-11-20T10:00:00Z")
    await book(full, await full.world.call("GET", f"{PATH}/1"))
    await make_count(full, {"article_code": "P"}, is_blind=True)
    text = await export(full)
    outcome = await full.world.import_csv("counts", text)
    assert (outcome.created, outcome.updated, outcome.unchanged) == (0, 0, 2)
    assert await export(full) == text


async def test_a_wrong_row_is_told_with_its_column(full: Store) -> None:
    with pytest.raises(ImportRefused) as raised:
        await full.world.import_csv("counts", f"{HEADER}C1,,MAIN,P,,,-8\nC2,,MAIN,P,,S,1\n")
    found = [(error.line, error.column) for error in raised.value.outcome.errors.first]
    assert found == [(2, "counted_quantity"), (3, "serial")]


DAMAGE = {
    "booked otherwise": ("UPDATE count_lines SET booked_quantity = -1000000 WHERE id = 2", "line 2", "-2", "-1"),
    "not booked": ("UPDATE count_lines SET booked_quantity = NULL WHERE id = 2", "line 2", "-2", "not booked"),
    "booked while open": ("UPDATE counts SET status = 'IN_LUCRU' WHERE id = 1", "line 2", "not booked", "-2"),
    "to be counted again": ("UPDATE count_lines SET count_again = 1 WHERE id = 2", "line 2", "not booked", "-2"),
}
PROMISE = (
    "each line of a finished count must have booked the counted quantity minus the ledger quantity, and lines "
    "of other counts must have booked nothing"
)


@pytest.mark.parametrize("damage, line, expected, found", DAMAGE.values(), ids=DAMAGE)
async def test_the_doctor_finds(full: Store, damage: str, line: str, expected: str, found: str) -> None:
    await enter(full, await make_count(full, {"article_code": "L"}), None, 5)
    await book(full, await full.world.call("GET", f"{PATH}/1"))
    await full.is_right()
    await (await full.world.database()).write(lambda tx: tx.execute(damage))
    found_by = (await (await full.world.database()).read_long(examine)).differences
    of_law = [each for each in found_by if each.promise == PROMISE]
    assert [(each.record, each.expected, each.found) for each in of_law] == [
        (f"CT-000001, {line}", expected, found)
    ]
