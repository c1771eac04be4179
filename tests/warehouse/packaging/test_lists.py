"""Lists of packaging balances and movements, by cursor."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.warehouse.packaging.depot import BALANCES, MOVEMENTS, Depot
from wmsd.db.sql import lists

PATHS = pytest.mark.parametrize("path", [BALANCES, MOVEMENTS])


@pytest.fixture
async def listed(depot: Depot) -> Depot:
    """Record the movements 1 to 6, a minute apart. Number 5 occurred a day before, number 6 a day after its
    recording.

    The balances are 1 (PAL, P1), 2 (CRATE, P1) and 3 (PAL, P2), last changed by the movements 6, 2 and 5.
    """
    plan: list[dict[str, Any]] = [
        {"direction": "OUT", "quantity": 10},
        {"direction": "OUT", "quantity": 20, "packaging_type": 2},
        {"direction": "IN", "quantity": 3},
        {"direction": "OUT", "quantity": 4, "partner": 2},
        {"direction": "IN", "quantity": 5, "partner": 2, "occurred_at": "2026-11-19T12:04:00.000Z"},
        {"direction": "IN", "quantity": 6, "occurred_at": "2026-11-21T12:05:00.000Z"},
    ]
    for movement in plan:
        await depot.move(**movement)
        depot.world.clock.advance(60)
    return depot


async def walked(depot: Depot, path: str, query: str, per_page: int) -> list[int]:
    """Return the ids that a walk by cursor returns."""
    met, cursor = [], None
    while True:
        at = f"&cursor={cursor}" if cursor else ""
        page = (await depot.world.call("GET", f"{path}?per_page={per_page}&{query}{at}")).body
        met += [record["id"] for record in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return met
        assert len(page["data"]) == per_page


async def test_a_balance_as_the_list_shows_it(listed: Depot) -> None:
    page = (await listed.world.call("GET", BALANCES)).body
    assert page["data"][0] == {
        "id": 1,
        "packaging_type_id": 1,
        "packaging_type_code": "PAL",
        "packaging_type_name": "Pallet",
        "partner_id": 1,
        "quantity": 1,
        "created_at": "2026-11-20T12:00:00.000Z",
        "updated_at": "2026-11-20T12:05:00.000Z",
    }
    assert [record["quantity"] for record in page["data"]] == [1, 20, -1]
    assert page["next_cursor"] is None


OF_MOVEMENTS: list[tuple[str, list[int]]] = [
    ("", [1, 2, 3, 4, 5, 6]),
    ("partner_id=1", [1, 2, 3, 6]),
    ("packaging_type_id=1", [1, 3, 4, 5, 6]),
    ("partner_id=1&packaging_type_id=1", [1, 3, 6]),
    ("partner_id=2&packaging_type_id=2", []),
    ("partner_id=99", []),
    ("packaging_type_id=99", []),
    ("packaging_type_code=PAL", [1, 3, 4, 5, 6]),
    ("packaging_type_code=CRATE&partner_id=1", [2]),
    ("packaging_type_code=CRATE&packaging_type_id=1", []),
    ("packaging_type_code=pal", []),
    ("since=2026-11-20T12:02:00Z&packaging_type_code=PAL", [3, 4, 6]),
    ("since=2026-11-20T12:01:00Z", [2, 3, 4, 6]),
    ("since=2026-11-20T12:01:00.001Z", [3, 4, 6]),
    ("since=" + quote("2026-11-20T14:01:00+02:00"), [2, 3, 4, 6]),
    ("since=2026-11-19T12:04:00Z", [1, 2, 3, 4, 5, 6]),
    ("since=2026-11-20T12:06:00Z", [6]),
    ("since=2026-11-20T12:02:00Z&partner_id=1", [3, 6]),
    ("since=2026-11-20T12:02:00Z&packaging_type_id=1", [3, 4, 6]),
    ("since=2026-11-20T12:02:00Z&partner_id=1&packaging_type_id=1", [3, 6]),
]
OF_BALANCES: list[tuple[str, list[int]]] = [
    ("", [1, 2, 3]),
    ("partner_id=1", [1, 2]),
    ("packaging_type_id=1", [1, 3]),
    ("packaging_type_code=PAL", [1, 3]),
    ("packaging_type_code=CRATE&partner_id=1", [2]),
    ("packaging_type_code=NONE", []),
    ("partner_id=1&packaging_type_id=1", [1]),
    ("partner_id=2&packaging_type_id=2", []),
    ("since=2026-11-20T12:04:00Z", [1, 3]),
    ("since=2026-11-20T12:04:00.001Z", [1]),
    ("since=2026-11-20T12:01:00Z&partner_id=1", [1, 2]),
    ("since=2026-11-20T12:06:00Z", []),
]


@pytest.mark.parametrize("few", [0, 2, 2000], ids=lambda few: f"few is under {few}")
async def test_every_filter_and_every_walk(listed: Depot, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list returns the same records in whichever way it finds the recent ones."""
    monkeypatch.setattr(lists, "FEW", few)
    for path, cases in ((MOVEMENTS, OF_MOVEMENTS), (BALANCES, OF_BALANCES)):
        for query, ids in cases:
            for per_page in (1, 2, 500):
                assert await walked(listed, path, query, per_page) == ids, f"{path}?{query}"


@pytest.mark.parametrize(("near", "first"), [(1, 1), (1, 61), (20, 61)])
async def test_what_is_recent_is_met_near_and_far(
    depot: Depot, near: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 120 movements, a walk returns the recent ones: those from `first` on, except every seventh."""
    monkeypatch.setattr(lists, "FEW", 5)
    monkeypatch.setattr(lists, "NEAR", near)
    recent = [number for number in range(first, 121) if number % 7]
    header = "packaging_type_code,partner_code,direction,quantity,occurred_at\n"
    rows = (
        f"PAL,P{number % 2 + 1},OUT,1,{'2026-11-20' if number in recent else '2026-01-01'}T08:00:00Z\n"
        for number in range(1, 121)
    )
    await depot.world.import_csv("packaging-movements", header + "".join(rows))
    for per_page in (3, 10, 40):
        assert await walked(depot, MOVEMENTS, "since=2026-11-01T00:00:00Z", per_page) == recent
        of_partner = [number for number in recent if number % 2 == 0]
        assert await walked(depot, MOVEMENTS, "since=2026-11-01T00:00:00Z&partner_id=1", per_page) == of_partner


async def test_what_changes_at_the_moment_itself_is_not_skipped(depot: Depot) -> None:
    """The next walk starts with the largest `updated_at` of the previous one."""
    await depot.move("OUT", 1)
    (seen,) = (await depot.world.call("GET", BALANCES)).body["data"]
    await depot.move("OUT", 1, partner=2)
    assert await walked(depot, BALANCES, f"since={seen['updated_at']}", 1) == [1, 2]


@PATHS
@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("partner_id=x", {"partner_id": ["must be a whole number"]}),
        ("packaging_type_id=0", {"packaging_type_id": ["must be from 1 to 9007199254740991"]}),
        ("since=2026-11-20T12:00:00", {"since": ["must have an offset from UTC, such as Z or +02:00"]}),
        (
            "since=yesterday&per_page=501",
            {
                "since": ["must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z"],
                "per_page": ["must be from 1 to 500"],
            },
        ),
        ("since=0001-01-01T00:00:00%2B14:00", {"since": ["must be in the years 1 to 9999"]}),
        ("partner=1", {"partner": ["is an unknown field; did you mean partner_id?"]}),
        ("cursor=x", {"cursor": ["is not a cursor of this list. Start again without a cursor"]}),
    ],
)
async def test_query_parameters(depot: Depot, path: str, query: str, errors: object) -> None:
    assert (await depot.world.call("GET", f"{path}?{query}", status=422)).errors == errors


async def test_a_cursor_belongs_to_its_list_and_filters(listed: Depot) -> None:
    cursor = (await listed.world.call("GET", f"{MOVEMENTS}?per_page=1&partner_id=1")).body["next_cursor"]
    for path in (
        f"{MOVEMENTS}?cursor={cursor}",
        f"{MOVEMENTS}?cursor={cursor}&partner_id=2",
        f"{BALANCES}?cursor={cursor}&partner_id=1",
    ):
        assert list((await listed.world.call("GET", path, status=422)).errors) == ["cursor"]


@PATHS
async def test_they_are_read_only(listed: Depot, path: str) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        await listed.world.call(method, path, {}, status=405)


@PATHS
async def test_module_and_ability_are_needed(listed: Depot, path: str) -> None:
    world = listed.world
    for ability, status in (("stock:read", 200), ("articles:read", 403)):
        token = await world.new_token("admin@example.com", [ability])
        answer = await world.call("GET", path, token=token, status=status)
        assert status == 200 or answer.body["code"] == "FORBIDDEN"
    await world.call("GET", path, token="", status=401)
    await world.set_module("ACME", "stock", False)
    assert (await world.call("GET", path, status=403)).body["code"] == "FORBIDDEN"


@PATHS
async def test_another_company_sees_nothing_of_it(listed: Depot, path: str) -> None:
    other = await listed.world.new_company("OTHER")
    page = (await listed.world.call("GET", f"{path}?partner_id=1", company=other)).body
    assert (page["data"], page["next_cursor"]) == ([], None)
    cursor = (await listed.world.call("GET", f"{path}?per_page=1")).body["next_cursor"]
    await listed.world.call("GET", f"{path}?cursor={cursor}", company=other, status=422)


async def test_a_batch_reads_both(listed: Depot) -> None:
    requests = [{"method": "GET", "path": path} for path in (BALANCES, f"{MOVEMENTS}?partner_id=2")]
    answer = (await listed.world.call("POST", "/api/v2/batch", {"requests": requests})).body
    assert [len(slot["body"]["data"]) for slot in answer["responses"]] == [3, 2]


@PATHS
async def test_filters_that_came_later_stand_last(depot: Depot, path: str) -> None:
    """Generated clients pass parameters by position."""
    document = (await depot.world.call("GET", "/api/v2/openapi.json")).body
    names = [each["name"] for each in document["paths"][path]["get"]["parameters"] if each.get("in") == "query"]
    first = ["cursor", "per_page", "partner_id", "packaging_type_id", "since"]
    assert [name for name in names if name in (*first, "packaging_type_code")] == [*first, "packaging_type_code"]
