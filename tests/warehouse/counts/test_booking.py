"""Booking a count: the counted quantity minus the quantity in the ledger at that time. Later movements do not
matter.
"""

import asyncio
from typing import Any

import pytest

from tests.support.goods import EAST, LOTTED, PLAIN, SERIAL, Store
from tests.support.world import Answer
from tests.warehouse.counts.counting import BOOKED, PATH, book, enter, make_count, shown
from wmsd.warehouse.counts.rules import STATUSES

ALLOWED = {("CREAT", "IN_LUCRU"), ("CREAT", "ANULAT"), ("IN_LUCRU", "FINALIZAT"), ("IN_LUCRU", "ANULAT")}


@pytest.fixture
async def full(store: Store) -> Store:
    """Stock the lines of a count: L with lot L1, L without a lot, P, and the serials S1 and S2 of S."""
    await store.count("P,MAIN,,,10,\nL,MAIN,L1,,5,\nL,MAIN,,,1,\nS,MAIN,X,S1,1,\nS,MAIN,X,S2,1,1\n")
    store.world.clock.advance(60)
    return store


async def counts_in_ledger(store: Store) -> list[Any]:
    """Return quantity, quarantined, lot, serial, document id and line id of each movement by a count document."""
    return await store.world.rows(
        "SELECT quantity / 1e6, quarantined / 1e6, lot_number, serial, document_id, document_line_id "
        "FROM stock_movements WHERE kind = 'count' AND document_id IS NOT NULL ORDER BY id"
    )


async def test_differences_are_booked_line_by_line(full: Store) -> None:
    made = await make_count(full)
    counted = await enter(full, made, 4.5, 3, 10, 0, 0)
    full.world.clock.advance(60)
    booked = await full.world.call("POST", f"{PATH}/1/book", events=[*BOOKED, "stock.updated"])
    assert booked.body["status"] == "FINALIZAT"
    assert shown(booked, "booked_quantity") == [(-0.5,), (2,), (0,), (-1,), (-1,)]
    assert shown(booked, "difference") == shown(counted, "difference")
    assert await counts_in_ledger(full) == [
        (-0.5, 0, "L1", None, 1, 1),
        (2, 0, None, None, 1, 2),
        (-1, 0, "X", "S1", 1, 4),
        (-1, -1, "X", "S2", 1, 5),
    ]
    assert await full.parts(LOTTED) == {("L1", None): (4.5, 0), (None, None): (3, 0)}
    assert await full.parts(SERIAL) == {}
    await full.is_right()


async def test_what_moved_after_the_count_arrived_stays_moved(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 8)
    await full.load(await full.order(PLAIN, 5))
    await full.adjust(PLAIN, by=1)
    await book(full, made)
    assert await full.balance(PLAIN) == (4, 0, 4)  # 8 were in stock, 5 left, 1 came
    await full.is_right()


async def test_lines_that_are_not_counted_or_to_be_counted_again_stay_unbooked(full: Store) -> None:
    made = await make_count(full)
    await full.adjust(PLAIN, by=-1)
    await enter(full, made, 4, None, 7)
    booked = await book(full, made)
    assert shown(booked, "booked_quantity", "count_again") == [
        (-1, False),
        (None, False),
        (None, True),
        (None, False),
        (None, False),
    ]
    assert await full.balance(PLAIN) == (9, 0, 9)
    await full.is_right()


async def test_a_count_that_agrees_moves_nothing_and_is_finished(full: Store) -> None:
    made = await make_count(full)
    await enter(full, made, 5, 1, 10, 1, 1)
    before = await full.world.rows("SELECT count(*) FROM stock_movements")
    booked = await full.world.call("POST", f"{PATH}/1/book", events=["count.status_changed"])
    assert shown(booked, "booked_quantity") == [(0,)] * 5
    assert await full.world.rows("SELECT count(*) FROM stock_movements") == before
    await full.is_right()


async def test_goods_in_quarantine_stay_there(full: Store) -> None:
    await full.quarantine(PLAIN, quantity=4)
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 5)
    await book(full, made)
    assert await full.balance(PLAIN) == (5, 4, 1)


async def test_a_serial_that_is_found_comes_into_stock_and_changes_its_lot(full: Store) -> None:
    lines: list[dict[str, Any]] = [
        {"article_code": "S", "serial": "NEW", "lot_number": "Y", "counted_quantity": 1},
        {"article_code": "S", "serial": "S1", "lot_number": "Y", "counted_quantity": 1},
        {"article_code": "S", "serial": "S1", "lot_number": "X", "counted_quantity": 0},
    ]
    await book(full, await make_count(full, *lines))
    assert await full.parts(SERIAL) == {("X", "S2"): (1, 1), ("Y", "NEW"): (1, 0), ("Y", "S1"): (1, 0)}
    await full.is_right()


async def test_an_article_that_was_never_there_comes_into_stock(full: Store) -> None:
    made = await make_count(full, {"article_code": "P", "counted_quantity": 3}, warehouse_id=EAST)
    await book(full, made)
    assert await full.balance(PLAIN, EAST) == (3, 0, 3)


# --- refused bookings -------------------------------------------------------------------------------------------


async def refused(store: Store, count: Answer, *paths: str) -> dict[str, list[str]]:
    """Return the errors of a refused booking, and check that the booking changes nothing."""
    before = [await store.everything(), await store.world.rows("SELECT * FROM count_lines")]
    answer = await store.world.call("POST", f"{PATH}/{count.id}/book", status=422)
    assert [await store.everything(), await store.world.rows("SELECT * FROM count_lines")] == before
    assert set(answer.errors) == set(paths)
    errors: dict[str, list[str]] = answer.errors
    return errors


async def test_below_what_orders_hold(full: Store) -> None:
    await full.order(PLAIN, 8)
    await full.order(LOTTED, 5, lot_number="L1")
    await full.order(SERIAL, 1, serials=["S1"])
    made = await make_count(full)
    await enter(full, made, 4, 1, 7, 0, 1)
    errors = await refused(full, made, "lines.0.counted_quantity", "lines.2.counted_quantity", "lines.3.serial")
    assert errors == {
        "lines.0.counted_quantity": [
            "is not possible: only 4 of lot L1 would be left to sell, but orders have reserved 5"
        ],
        "lines.2.counted_quantity": ["is not possible: only 7 would be left to sell, but orders have reserved 8"],
        "lines.3.serial": [
            "S1 is reserved by an order: the serial must stay in stock, in the same lot, and must not enter or "
            "leave quarantine"
        ],
    }


async def test_each_line_that_takes_away_what_orders_hold_is_named(full: Store) -> None:
    await full.order(LOTTED, 6)
    made = await make_count(full, {"article_code": "L"})
    await enter(full, made, 4, 0)
    await refused(full, made, "lines.0.counted_quantity", "lines.1.counted_quantity")


async def test_below_what_is_in_quarantine(full: Store) -> None:
    await full.quarantine(PLAIN, quantity=4)
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 3)
    errors = await refused(full, made, "lines.0.counted_quantity")
    sentence = "would leave only 3 in stock, but 4 are in quarantine: first release enough goods from quarantine"
    assert errors["lines.0.counted_quantity"] == [sentence]
    await enter(full, made, 0)  # everything is gone, including the goods in quarantine
    await book(full, made)
    assert await full.balance(PLAIN) == (0, 0, 0)
    await full.is_right()


async def test_more_gone_than_is_there_by_now(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 2)
    await full.adjust(PLAIN, by=-5)
    errors = await refused(full, made, "lines.0.counted_quantity")
    sentence = "would remove 8, but only 5 are in stock now: count again"
    assert errors["lines.0.counted_quantity"] == [sentence]


async def test_more_than_a_balance_holds(full: Store) -> None:
    await full.adjust(PLAIN, by=999999989)
    made = await make_count(full, {"article_code": "P", "counted_quantity": 999999999.999999})
    await full.adjust(PLAIN, by=0.5)
    await refused(full, made, "lines.0.counted_quantity")


async def test_a_serial_that_is_in_stock_elsewhere(full: Store) -> None:
    made = await make_count(full, {"article_code": "S", "serial": "S1", "counted_quantity": 1}, warehouse_id=EAST)
    errors = await refused(full, made, "lines.0.serial")
    sentence = "S1 is still in stock in MAIN: first create a count there with the quantity 0, and book it"
    assert errors["lines.0.serial"] == [sentence]
    gone = await make_count(full, {"article_code": "S", "serial": "S1", "counted_quantity": 0})
    await book(full, gone)
    await book(full, made)
    assert await full.parts(SERIAL, EAST) == {(None, "S1"): (1, 0)}
    await full.is_right()


async def test_a_serial_in_two_lots(full: Store) -> None:
    lines = [{"article_code": "S", "serial": "N", "lot_number": lot, "counted_quantity": 1} for lot in "AB"]
    await refused(full, await make_count(full, *lines), "lines.1.serial")


async def test_a_serial_that_came_after_it_was_counted(full: Store) -> None:
    made = await make_count(full, {"article_code": "S", "serial": "N", "lot_number": "X", "counted_quantity": 1})
    await full.adjust(SERIAL, by=1, lot_number="X", serials=["N"])
    await refused(full, made, "lines.0.counted_quantity")


NOTHING = {
    "no number": ((None, None), False, (2, 0)),
    "all to count again": ((3, 3), True, (0, 2)),
    "either": ((3, None), True, (1, 1)),
}


@pytest.mark.parametrize("numbers, moves, lacks", NOTHING.values(), ids=NOTHING)
async def test_nothing_that_could_be_booked(
    full: Store, numbers: tuple[float | None, ...], moves: bool, lacks: tuple[int, int]
) -> None:
    made = await make_count(full, {"article_code": "L"})
    await full.world.call("PATCH", f"{PATH}/1", {"status": "IN_LUCRU"}, events=["count.status_changed"])
    if moves:
        await full.adjust(LOTTED, lot_number="L1", by=1)
        await full.adjust(LOTTED, by=1)
    if any(numbers):
        await enter(full, made, *numbers)
    answer = await full.world.call("POST", f"{PATH}/1/book", status=409)
    without, again = lacks
    assert answer.body["message"] == (
        f"This count has no lines to book. Lines without a quantity: {without}; lines to count again because "
        f"their goods moved: {again}."
    )
    assert answer.body["details"] == {"current": "IN_LUCRU", "requested": "FINALIZAT", "allowed": ["ANULAT"]}


# --- counts of the same goods -----------------------------------------------------------------------------------


async def test_two_counts_of_the_same_goods_book_a_difference_once(full: Store) -> None:
    first, second = [await make_count(full, {"article_code": "P"}, {"article_code": "L"}) for _ in range(2)]
    for count in (first, second):
        await enter(full, count, 8, 5, 1)
    await full.world.call("POST", f"{PATH}/1/book", events=["count.updated", *BOOKED])
    answer = await full.world.call("GET", f"{PATH}/2")
    assert shown(answer, "count_again") == [(True,), (False,), (False,)]
    full.world.clock.advance(60)
    await enter(full, second, 8, seen_at=full.world.clock.now().isoformat())
    booked = await book(full, second)
    assert shown(booked, "booked_quantity") == [(0,), (0,), (0,)]
    assert await full.balance(PLAIN) == (8, 0, 8)


async def test_a_count_by_a_file_books_a_difference_once_too(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"}, {"article_code": "L"})
    await enter(full, made, 8, 4, 1)
    full.world.clock.advance(60)
    await full.count("P,MAIN,,,8,\n")
    booked = await book(full, made)
    assert shown(booked, "booked_quantity", "count_again") == [(None, True), (-1, False), (0, False)]
    assert await full.balance(PLAIN) == (8, 0, 8)


async def test_alone_it_is_refused_until_the_counter_has_looked_again(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 8)
    full.world.clock.advance(60)
    await full.count("P,MAIN,,,8,\n")
    full.world.clock.advance(60)
    await book(full, made, 409)
    await enter(full, made, 8, seen_at=full.world.clock.now().isoformat())
    assert shown(await book(full, made), "booked_quantity") == [(0,)]


# --- moves: repeated and concurrent -----------------------------------------------------------------------------


@pytest.mark.parametrize("after", STATUSES)
@pytest.mark.parametrize("before", STATUSES)
async def test_each_of_the_16_moves(full: Store, before: str, after: str) -> None:
    made = await make_count(full, {"article_code": "P"})
    if before != "CREAT":
        made = await enter(full, made, 9)
    if before == "FINALIZAT":
        made = await book(full, made)
    elif before == "ANULAT":
        made = await full.world.send("PATCH", f"{PATH}/1", {"status": before})
    if before == after:
        assert (await full.world.call("PATCH", f"{PATH}/1", {"status": after})).raw == made.raw
    elif after == "FINALIZAT":
        answer = await full.world.call("PATCH", f"{PATH}/1", {"status": after}, status=409)
        assert "POST /api/v2/counts/1/book, which needs stock:write" in answer.body["message"]
    elif (before, after) in ALLOWED:
        answer = await full.world.call("PATCH", f"{PATH}/1", {"status": after}, events=["count.status_changed"])
        assert answer.body["status"] == after
    else:
        answer = await full.world.call("PATCH", f"{PATH}/1", {"status": after}, status=409)
        assert answer.body["details"]["allowed"] == [to for to in STATUSES if (before, to) in ALLOWED]
        assert (await full.world.call("GET", f"{PATH}/1")).raw == made.raw
    await full.is_right()


async def test_a_count_without_a_number_is_not_booked(full: Store) -> None:
    await make_count(full)
    answer = await full.world.call("POST", f"{PATH}/1/book", status=409)
    assert answer.body["message"] == (
        "A count with the status CREAT cannot become FINALIZAT, only IN_LUCRU or ANULAT."
    )


async def test_booking_again_does_nothing(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 8)
    booked = await book(full, made)
    assert (await full.world.call("POST", f"{PATH}/1/book")).raw == booked.raw


async def test_two_who_book_at_once_book_once(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 8)
    answers = await asyncio.gather(*(full.world.send("POST", f"{PATH}/1/book") for _ in range(5)))
    assert {answer.status for answer in answers} == {200}
    assert [row[0] for row in await counts_in_ledger(full)] == [-2]
    await full.is_right()


async def test_a_key_is_used_once(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 8)
    key = {"Idempotency-Key": "book-1"}
    first, second = [await book(full, made, headers=key) for _ in range(2)]
    assert first.raw == second.raw
    assert [row[0] for row in await counts_in_ledger(full)] == [-2]


async def test_a_count_that_changed_is_not_booked_by_whoever_saw_it_before(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    seen = await enter(full, made, 8)
    await enter(full, made, 7)
    await book(full, made, 412, headers={"If-Match": seen.headers["ETag"]})
    assert await full.balance(PLAIN) == (10, 0, 10)
