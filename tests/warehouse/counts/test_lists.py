"""The lines of a count: the named goods, or everything in stock; and how a count is returned."""

from typing import Any

import pytest

from tests.support.goods import EAST, LOTTED, MAIN, PLAIN, SERIAL, Store
from tests.warehouse.counts.counting import CREATED, PATH, enter, make_count, shown

FULL = (
    "P,MAIN,,,10,2\nL,MAIN,L1,,5,\nL,MAIN,L2,,7.5,1\nL,MAIN,,,1,\n"
    "S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,1\nS,MAIN,,S3,1,\nS,EAST,X,S4,1,\n"
)
ALL = [
    ("L", "L1", None, 5),
    ("L", "L2", None, 7.5),
    ("L", None, None, 1),
    ("P", None, None, 10),
    ("S", "X", "S1", 1),
    ("S", "X", "S2", 1),
    ("S", None, "S3", 1),
]
PART = ("article_code", "lot_number", "serial", "expected_quantity")


@pytest.fixture
async def full(store: Store) -> Store:
    await store.count(FULL)
    return store


async def test_a_count_answers_whole_with_its_address(full: Store) -> None:
    full.world.clock.advance(1)
    body = {"warehouse_id": MAIN, "external_ref": "INV-1", "notes": "Aisle 3", "lines": [{"article_code": "P"}]}
    answer = await full.world.call("POST", PATH, body, status=201, events=CREATED)
    assert answer.headers["Location"] == f"{PATH}/1"
    at = answer.body["created_at"]
    unknown = ("counted_quantity", "counted_at", "arrived_at", "ledger_quantity", "difference", "booked_quantity")
    of_p = {"id": 1, "article_id": PLAIN, "article_code": "P", "lot_number": None, "serial": None}
    assert answer.body == {
        "id": 1,
        "code": "CT-000001",
        "status": "CREAT",
        "warehouse_id": MAIN,
        "is_blind": False,
        "external_ref": "INV-1",
        "notes": "Aisle 3",
        "lines": [{**of_p, "expected_quantity": 10, **dict.fromkeys(unknown), "count_again": False}],
        "status_history": [{"status": "CREAT", "at": at}],
        "created_at": at,
        "updated_at": at,
    }
    assert (await full.world.call("GET", f"{PATH}/1")).body == answer.body


async def test_without_lines_it_lists_all_that_is_in_stock(full: Store) -> None:
    await full.adjust(PLAIN, EAST, by=3)
    assert shown(await make_count(full), *PART) == ALL


async def test_a_search_narrows_the_list(full: Store) -> None:
    assert shown(await make_count(full, article_search="lott"), *PART) == ALL[:3]


async def test_an_article_stands_for_all_of_it_and_a_lot_for_its_serials(full: Store) -> None:
    named: list[dict[str, Any]] = [
        {"article_code": "L"},
        {"article_code": "S", "lot_number": "X"},
        {"article_id": PLAIN},
    ]
    assert shown(await make_count(full, *named), *PART) == [*ALL[:3], *ALL[4:6], ALL[3]]


async def test_a_serial_is_found_in_its_lot(full: Store) -> None:
    made = await make_count(full, {"article_code": "S", "serial": "S1"}, {"article_code": "S", "serial": "NEW"})
    assert shown(made, *PART) == [("S", "X", "S1", 1), ("S", None, "NEW", 0)]


async def test_what_was_never_there_is_expected_as_none_and_makes_no_stock_record(full: Store) -> None:
    made = await make_count(
        full, {"article_code": "P"}, {"article_code": "L", "lot_number": "L9"}, warehouse_id=EAST
    )
    assert shown(made, *PART) == [("P", None, None, 0), ("L", "L9", None, 0)]
    assert await full.world.rows("SELECT count(*) FROM stock WHERE warehouse_id = 2") == [(1,)]


async def test_lines_that_have_a_number_begin_the_count(full: Store) -> None:
    line = {"article_code": "P", "counted_quantity": 9}
    body = {"warehouse_id": MAIN, "lines": [line]}
    made = await full.world.call("POST", PATH, body, status=201, events=[*CREATED, "count.status_changed"])
    assert made.body["status"] == "IN_LUCRU"
    assert shown(made, "counted_quantity", "ledger_quantity", "difference", "count_again") == [(9, 10, -1, False)]


async def test_a_number_of_a_lotted_article_without_a_lot_is_of_what_has_none(full: Store) -> None:
    made = await make_count(full, {"article_code": "L", "counted_quantity": 3})
    assert shown(made, *PART, "difference") == [("L", None, None, 1, 2)]


async def test_a_blind_count_shows_what_is_expected_only_when_it_is_counted(full: Store) -> None:
    names = ("expected_quantity", "ledger_quantity", "difference")
    made = await make_count(full, {"article_code": "P"}, {"article_code": "L", "lot_number": "L1"}, is_blind=True)
    assert shown(made, *names) == [(None, None, None)] * 2
    counted = await enter(full, made, 8)
    assert shown(counted, *names) == [(10, 10, -2), (None, None, None)]
    data = [event for name, event in await full.world.events_after(0) if name == "count.created"]
    assert [line["expected_quantity"] for line in data[0]["lines"]] == [None, None]


async def test_a_list_that_is_too_long_says_how_many_it_found(store: Store) -> None:
    rows = "".join(f"L,MAIN,L{number},,1,\n" for number in range(1001))
    await store.count(f"P,MAIN,,,5,\n{rows}")
    answer = await store.world.call("POST", PATH, {"warehouse_id": MAIN}, status=422)
    sentence = (
        "matches 1002 articles, lots and serials in stock, but a count has at most 1000 lines: use a "
        "narrower article_search, or import the count from a file"
    )
    assert answer.errors == {"warehouse_id": [sentence]}
    answer = await store.world.call("POST", PATH, {"warehouse_id": MAIN, "article_search": "lotted"}, status=422)
    assert answer.errors == {"article_search": [sentence.replace("1002", "1001")]}
    answer = await store.world.call(
        "POST", PATH, {"warehouse_id": MAIN, "lines": [{"article_code": "L"}]}, status=422
    )
    assert list(answer.errors) == ["lines"]
    assert shown(await make_count(store, article_search="plain"), *PART) == [("P", None, None, 5)]


REFUSED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "no stock": ({"warehouse_id": EAST}, {"warehouse_id": "matches no goods in stock"}),
    "no match": ({"article_search": "nowhere"}, {"article_search": "matches no goods in stock"}),
    "no words": ({"article_search": "-"}, {"article_search": "matches no goods in stock"}),
    "an unknown warehouse": ({"warehouse_id": 99}, {"warehouse_id": "is not a warehouse of this company"}),
    "no lines": ({"lines": []}, {"lines": "at least 1"}),
    "both ways": (
        {"lines": [{"article_code": "P"}], "article_search": "P"},
        {"article_search": "cannot be combined with"},
    ),
    "another status": ({"status": "FINALIZAT"}, {"status": "must be CREAT"}),
    "an unknown article": ({"lines": [{"article_code": "Q"}]}, {"lines.0.article_code": "is not an article"}),
    "no article": (
        {"lines": [{"lot_number": "L1"}]},
        {"lines.0.article_id": "is required unless article_code is given"},
    ),
    "a foreign line": ({"lines": [{"id": 1}]}, {"lines.0.id": "is not a line of this count"}),
    "the same twice": (
        {"lines": [{"article_code": "L"}, {"article_id": LOTTED, "lot_number": "L2"}]},
        {"lines.1": "has the same goods as line 1"},
    ),
    "a serial of an article without": (
        {"lines": [{"article_code": "P", "serial": "X"}]},
        {"lines.0.serial": "is not tracked by serials"},
    ),
    "two of one serial": (
        {"lines": [{"article_code": "S", "serial": "S1", "counted_quantity": 2}]},
        {"lines.0.counted_quantity": "must be 1, or 0"},
    ),
    "half a serial": (
        {"lines": [{"article_code": "S", "counted_quantity": 0.5}]},
        {"lines.0.counted_quantity": "must be a whole number"},
    ),
    "below none": (
        {"lines": [{"article_code": "P", "counted_quantity": -1}]},
        {"lines.0.counted_quantity": "must not be below 0"},
    ),
    "too exact": (
        {"lines": [{"article_code": "P", "counted_quantity": 0.0000001}]},
        {"lines.0.counted_quantity": "at most 6 decimal places"},
    ),
    "a moment of nothing": (
        {"lines": [{"article_code": "P", "counted_at": "2026-11-20T12:00:00Z"}]},
        {"lines.0.counted_quantity": "is required if `counted_at` is sent"},
    ),
    "an unknown field": (
        {"lines": [{"article_code": "P", "quantity": 1}]},
        {"lines.0.quantity": "is an unknown field"},
    ),
    "all at once": (
        {"external_ref": 7, "lines": [{"article_code": "Q"}, {"article_code": "P", "counted_quantity": "x"}]},
        {
            "external_ref": "must be",
            "lines.0.article_code": "is not an article",
            "lines.1.counted_quantity": "must be a number",
        },
    ),
}


@pytest.mark.parametrize("fields, sentences", REFUSED.values(), ids=REFUSED)
async def test_what_is_refused(full: Store, fields: dict[str, Any], sentences: dict[str, str]) -> None:
    full_body = {"warehouse_id": MAIN, **fields}
    if full_body["warehouse_id"] == EAST:
        await full.adjust(SERIAL, EAST, by=-1, serials=["S4"])
    answer = await full.world.call("POST", PATH, full_body, status=422)
    assert answer.errors.keys() == sentences.keys()
    for path, sentence in sentences.items():
        assert sentence in " ".join(answer.errors[path])
    assert await full.world.rows("SELECT count(*) FROM counts") == [(0,)]


async def test_lists_by_their_filters(full: Store) -> None:
    await make_count(full, external_ref="A")
    await make_count(full, {"article_code": "S"}, warehouse_id=EAST)
    await enter(full, await make_count(full, {"article_code": "P"}), 10)

    async def codes(query: str) -> list[str]:
        return [each["code"] for each in (await full.world.call("GET", f"{PATH}?{query}")).body["data"]]

    assert await codes("") == ["CT-000001", "CT-000002", "CT-000003"]
    assert await codes("status=IN_LUCRU") == ["CT-000003"]
    assert await codes("status=CREAT,ANULAT") == ["CT-000001", "CT-000002"]
    assert await codes(f"warehouse_id={EAST}") == ["CT-000002"]
    assert await codes("code=CT-000001") == ["CT-000001"]
    assert await codes("external_ref=A") == ["CT-000001"]
