"""Entering counted quantities: which line is meant, what the ledger had at that time, and what must be counted
again.
"""

import asyncio
from typing import Any

import pytest

from tests.support.goods import LOTTED, MAIN, PLAIN, SERIAL, Store
from tests.support.sqlite_steps import counted_steps
from tests.warehouse.counts.counting import BEGUN, PATH, UPDATED, enter, make_count, shown
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.counts.store import Seen, moved_since

NUMBERS = ("counted_quantity", "ledger_quantity", "difference", "count_again")


@pytest.fixture
async def full(store: Store) -> Store:
    await store.count("P,MAIN,,,10,\nL,MAIN,L1,,5,\nS,MAIN,X,S1,1,\n")
    store.world.clock.advance(60)
    return store


async def patch(store: Store, *lines: dict[str, Any], events: list[str] = UPDATED, **fields: Any) -> Any:
    body = {**({"lines": list(lines)} if lines else {}), **fields}
    return await store.world.call("PATCH", f"{PATH}/1", body, events=events)


async def test_the_first_number_begins_the_count_and_others_stay(full: Store) -> None:
    made = await make_count(full)
    (l1, p, s1) = (line["id"] for line in made.body["lines"])
    answer = await patch(full, {"id": p, "counted_quantity": 8.5}, events=BEGUN)
    assert answer.body["status"] == "IN_LUCRU"
    assert [each["status"] for each in answer.body["status_history"]] == ["CREAT", "IN_LUCRU"]
    answer = await patch(full, {"id": s1, "counted_quantity": 0}, {"id": l1, "counted_quantity": 5})
    assert shown(answer, *NUMBERS) == [(5, 5, 0, False), (8.5, 10, -1.5, False), (0, 1, -1, False)]
    assert {line["arrived_at"] for line in answer.body["lines"]} == {"2026-11-20T12:01:00.000Z"}
    assert await full.balance(PLAIN) == (10, 0, 10)


async def test_what_is_not_on_the_list_is_added_and_a_line_is_known_by_its_goods(full: Store) -> None:
    await make_count(full, {"article_code": "L"})
    found = {"article_code": "L", "lot_number": "L2", "counted_quantity": 2}
    named = {"article_id": LOTTED, "lot_number": "L1", "counted_quantity": 4}
    answer = await patch(full, found, named, {"article_code": "P"}, events=BEGUN)
    assert shown(answer, "lot_number", *NUMBERS) == [
        ("L1", 4, 5, -1, False),
        ("L2", 2, 0, 2, False),
        (None, None, None, None, False),
    ]


async def test_counted_at_is_kept(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    answer = await enter(full, made, 10, counted_at="2026-11-19T08:00:00+02:00")
    assert shown(answer, "counted_at") == [("2026-11-19T06:00:00.000Z",)]


async def test_a_number_is_taken_back(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    await enter(full, made, 8)
    answer = await patch(full, {"id": 1, "counted_quantity": None})
    assert shown(answer, *NUMBERS, "arrived_at") == [(None, None, None, False, None)]
    assert answer.body["status"] == "IN_LUCRU"


async def test_the_same_number_again_changes_nothing(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"})
    counted = await enter(full, made, 8, counted_at="2026-11-19T06:00:00Z")
    full.world.clock.advance(60)
    await full.adjust(PLAIN, by=-1)
    for line in (counted.body["lines"][0], {"id": 1, "counted_quantity": 8}):
        assert (await patch(full, line, events=[])).raw == counted.raw
    assert (await full.world.call("PUT", f"{PATH}/1", counted.body)).raw == counted.raw


async def test_put_takes_lines_off_that_are_not_sent(full: Store) -> None:
    made = await make_count(full)
    counted = await enter(full, made, 4, 9)
    body = {**counted.body, "lines": counted.body["lines"][1:2], "notes": "Only this one"}
    answer = await full.world.call("PUT", f"{PATH}/1", body, events=UPDATED)
    assert answer.body["lines"] == counted.body["lines"][1:2]
    assert answer.body["notes"] == "Only this one"


# --- goods that must be counted again ---------------------------------------------------------------------------


async def test_what_moved_since_the_list_was_made_is_to_be_counted_again(full: Store) -> None:
    made = await make_count(full)
    await full.adjust(PLAIN, by=-2)
    answer = await enter(full, made, 5, 8, 1)
    assert shown(answer, *NUMBERS) == [(5, 5, 0, False), (8, 8, 0, True), (1, 1, 0, False)]
    answer = await enter(full, made, None, 8)
    assert shown(answer, *NUMBERS)[1] == (8, 8, 0, False)


async def test_what_moved_before_the_counter_looked_is_not(full: Store) -> None:
    made = await make_count(full)
    await full.adjust(PLAIN, by=-2)
    full.world.clock.advance(1)
    seen = full.world.clock.now().isoformat()
    full.world.clock.advance(60)
    assert shown(await enter(full, made, None, 8, seen_at=seen), *NUMBERS)[1] == (8, 8, 0, False)


async def test_what_moved_after_the_counter_looked_is(full: Store) -> None:
    made = await make_count(full)
    seen = full.world.clock.now().isoformat()
    full.world.clock.advance(60)
    await full.adjust(PLAIN, by=-2)
    full.world.clock.advance(60)
    assert shown(await enter(full, made, None, 10, seen_at=seen), *NUMBERS)[1] == (10, 8, 2, True)


async def test_an_old_look_sees_nothing_that_came_since(full: Store) -> None:
    """A number entered with an old `seen_at` ignores later movements, even if `seen_at` is before the count
    itself.
    """
    seen = full.world.clock.now().isoformat()
    full.world.clock.advance(60)
    await full.adjust(PLAIN, by=-2)
    full.world.clock.advance(90_000)
    made = await make_count(full)
    assert shown(await enter(full, made, None, 10, seen_at=seen), *NUMBERS)[1] == (10, 8, 2, True)


async def test_a_part_is_looked_up_however_much_its_record_has_moved(full: Store) -> None:
    """The check of a part does not read all movements of its stock record, so a thousand lots stay fast."""
    before = await _steps(full)
    for number in range(60):
        await full.adjust(LOTTED, lot_number="OTHER", by=-1 if number % 2 else 1)
    assert await _steps(full) <= before + 200


async def _steps(store: Store) -> int:
    """Return the number of SQLite steps to check if a lot and a serial that do not exist have moved. Each check
    runs since the start and since a time.
    """
    (of_lot,) = (await store.world.call("GET", f"/api/stock?article_id={LOTTED}")).body["data"]
    seen = [Seen(of_lot["id"], "NONE", None, 0, at) for at in (None, "2026-11-20T12:00:00.000Z")]
    seen += [Seen(of_lot["id"], None, "NONE", 0, at) for at in (None, "2026-11-20T12:00:00.000Z")]

    def read(tx: Transaction) -> int:
        with counted_steps(tx._connection) as steps:
            assert moved_since(tx, seen) == set()
        return steps.counted

    return await (await store.world.database()).read_long(read)


async def test_a_movement_in_the_very_millisecond_counts_as_not_seen(full: Store) -> None:
    made = await make_count(full)
    await full.adjust(PLAIN, by=-2)
    seen = full.world.clock.now().isoformat()
    assert shown(await enter(full, made, None, 8, seen_at=seen), *NUMBERS)[1] == (8, 8, 0, True)


async def test_only_a_movement_of_the_same_part_counts(full: Store) -> None:
    made = await make_count(full)
    await full.adjust(LOTTED, lot_number="L2", by=2)
    await full.adjust(SERIAL, lot_number="X", by=1, serials=["S2"])
    await full.quarantine(PLAIN, quantity=3)
    answer = await enter(full, made, 5, 10, 1)
    assert shown(answer, "count_again") == [(False,)] * 3


async def test_a_blind_line_that_is_to_be_counted_again_hides_what_the_ledger_has(full: Store) -> None:
    made = await make_count(full, {"article_code": "P"}, is_blind=True)
    await full.adjust(PLAIN, by=-2)
    answer = await enter(full, made, 8)
    assert shown(answer, "expected_quantity", *NUMBERS) == [(None, 8, None, None, True)]
    assert shown(await enter(full, made, 8), "expected_quantity", *NUMBERS) == [(10, 8, 8, 0, False)]


async def test_a_moment_in_the_future_is_refused_with_the_servers_time(full: Store) -> None:
    await make_count(full, {"article_code": "P"})
    line = {"id": 1, "counted_quantity": 1, "seen_at": "2026-11-20T12:01:00.001Z"}
    answer = await full.world.call("PATCH", f"{PATH}/1", {"lines": [line]}, status=422)
    assert answer.errors == {
        "lines.0.seen_at": ["is in the future: the server's clock says 2026-11-20T12:01:00.000Z"]
    }


async def test_the_event_of_an_entry_has_the_lines_that_changed(full: Store) -> None:
    """A thousand lines are entered one by one: with all lines in each event, the event log would grow too fast."""
    made = await make_count(full)
    before = await full.world.last_event()
    await enter(full, made, None, 8)
    (event,) = [data for name, data in await full.world.events_after(before) if name == "count.updated"]
    assert [line["counted_quantity"] for line in event["lines"]] == [8]
    assert (event["code"], event["id"]) == (made.body["code"], made.id)
    before = await full.world.last_event()
    answer = await full.world.call("PATCH", f"{PATH}/1", {"notes": "late"}, events=UPDATED)
    (event,) = [data for _, data in await full.world.events_after(before)]
    assert (event["notes"], event["lines"], len(answer.body["lines"])) == ("late", [], 3)


# --- refused entries --------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "an unknown line": ([{"id": 99, "counted_quantity": 1}], ["lines.0.id"]),
    "a line twice": ([{"id": 2, "counted_quantity": 1}, {"id": 2, "counted_quantity": 2}], ["lines.1"]),
    "a line by id and by its goods": (
        [{"id": 2, "counted_quantity": 1}, {"article_code": "P", "counted_quantity": 2}],
        ["lines.1"],
    ),
    "other goods under its id": (
        [{"id": 2, "article_code": "L", "lot_number": "L1", "counted_quantity": 1}],
        ["lines.0.article_id", "lines.0.lot_number"],
    ),
    "an unknown article": ([{"article_code": "Q", "counted_quantity": 1}], ["lines.0.article_code"]),
    "two of one serial": ([{"id": 3, "counted_quantity": 2}], ["lines.0.counted_quantity"]),
    "a part of a serial": ([{"id": 3, "counted_quantity": 0.5}], ["lines.0.counted_quantity"]),
    "no number": ([{"id": 1, "counted_quantity": "5"}], ["lines.0.counted_quantity"]),
    "two faults": ([{"id": 1, "counted_quantity": -5}, {"id": 99}], ["lines.0.counted_quantity"]),
}


@pytest.mark.parametrize("lines, paths", REFUSED.values(), ids=REFUSED)
async def test_a_line_that_does_not_fit_is_refused_and_nothing_is_entered(
    full: Store, lines: list[dict[str, Any]], paths: list[str]
) -> None:
    made = await make_count(full)
    answer = await full.world.call("PATCH", f"{PATH}/1", {"lines": lines}, status=422)
    assert list(answer.errors) == paths
    assert (await full.world.call("GET", f"{PATH}/1")).raw == made.raw


async def test_more_than_a_thousand_lines_are_refused(store: Store) -> None:
    await store.count("".join(f"L,MAIN,L{number},,1,\n" for number in range(1000)))
    await make_count(store)
    answer = await store.world.call(
        "PATCH", f"{PATH}/1", {"lines": [{"article_code": "P", "counted_quantity": 1}]}, status=422
    )
    sentence = (
        "are too many (1001): a count has at most 1000. Create several counts, or import the count from a file"
    )
    assert answer.errors == {"lines": [sentence]}


async def test_two_who_enter_at_once_both_find_their_numbers(full: Store) -> None:
    made = await make_count(full)
    entered = [
        full.world.send("PATCH", f"{PATH}/1", {"lines": [{"id": line["id"], "counted_quantity": 1}]})
        for line in made.body["lines"]
    ]
    assert {answer.status for answer in await asyncio.gather(*entered)} == {200}
    answer = await full.world.call("GET", f"{PATH}/1")
    assert shown(answer, "counted_quantity") == [(1,)] * 3
    assert len(answer.body["status_history"]) == 2


async def test_warehouse_and_blindness_are_fixed_in_time(full: Store) -> None:
    made = await make_count(full)
    answer = await full.world.call("PATCH", f"{PATH}/1", {"warehouse_id": 2}, status=422)
    assert answer.errors == {"warehouse_id": ["cannot be changed: create a new count for the other warehouse"]}
    answer = await full.world.call("PATCH", f"{PATH}/1", {"warehouse_id": 99}, status=422)
    assert answer.errors["warehouse_id"][0] == "is not a warehouse of this company"
    await patch(full, is_blind=True)
    await enter(full, made, 5)
    answer = await full.world.call("PATCH", f"{PATH}/1", {"is_blind": False}, status=409)
    assert answer.body["message"] == "This count is IN_LUCRU. Its is_blind cannot be changed any more."
    await patch(full, notes="Stays possible")


async def test_a_cancelled_count_takes_no_numbers(full: Store) -> None:
    made = await make_count(full, warehouse_id=MAIN)
    await patch(full, status="ANULAT", events=["count.status_changed"])
    line = {"id": made.body["lines"][0]["id"], "counted_quantity": 1}
    answer = await full.world.call("PATCH", f"{PATH}/1", {"lines": [line]}, status=409)
    assert answer.body["message"] == "This count is ANULAT. It cannot be changed any more."
