"""The rights to read, enter and book counts, and the company in which they apply."""

from typing import Any

import pytest

from tests.support.goods import MAIN, Store
from tests.support.world import World
from tests.warehouse.counts.counting import PATH, book, enter, make_count
from wmsd.contract.access import ABILITIES, ABILITY_SETS

READ, COUNT, WRITE = "stock:read", "stock:count", "stock:write"
REQUESTS: dict[str, tuple[str, str, Any, str]] = {
    "list": ("GET", PATH, None, READ),
    "show": ("GET", f"{PATH}/1", None, READ),
    "create": ("POST", PATH, {"warehouse_id": MAIN, "lines": [{"article_code": "P"}]}, COUNT),
    "enter": ("PATCH", f"{PATH}/1", {"lines": [{"id": 1, "counted_quantity": 7}]}, COUNT),
    "replace": ("PUT", f"{PATH}/1", {"warehouse_id": MAIN, "lines": [{"id": 1}]}, COUNT),
    "cancel": ("PATCH", f"{PATH}/1", {"status": "ANULAT"}, COUNT),
    "book": ("POST", f"{PATH}/1/book", None, WRITE),
}


@pytest.fixture
async def full(store: Store) -> Store:
    await store.count("P,MAIN,,,10,\n")
    await enter(store, await make_count(store, {"article_code": "P"}), 8)
    return store


@pytest.mark.parametrize("ability", ABILITIES)
@pytest.mark.parametrize("method, path, body, needed", REQUESTS.values(), ids=REQUESTS)
async def test_each_needs_its_ability_and_no_other(
    full: Store, method: str, path: str, body: Any, needed: str, ability: str
) -> None:
    if ability == "returns:write":
        pytest.skip("is not in force here")
    token = await full.world.new_token("admin@example.com", [ability])
    answer = await full.world.send(method, path, body, token=token)
    if ability == needed:
        assert answer.status in (200, 201), answer.raw
    else:
        assert answer.status == 403
        assert needed in answer.body["message"]


async def test_no_existing_ability_gives_it(full: Store) -> None:
    every = [name for name in ABILITIES if name not in (COUNT, "returns:write")]
    token = await full.world.new_token("admin@example.com", every)
    _, path, body, _ = REQUESTS["create"]
    assert (await full.world.send("POST", path, body, token=token)).status == 403


def test_sets_of_abilities() -> None:
    may = {each.name: {READ, COUNT, WRITE} & each.abilities for each in ABILITY_SETS}
    assert may == {"office": {READ}, "warehouse": {READ, COUNT, WRITE}, "reads-only": {READ}}


async def test_without_the_module_there_are_none(full: Store) -> None:
    await full.world.set_module("ACME", "stock", False)
    for method, path, body, _ in REQUESTS.values():
        assert (await full.world.send(method, path, body)).status == 403


async def test_counts_of_another_company_are_not_there(full: Store) -> None:
    other = await full.world.new_company("OTHER")
    for method, path, body, _ in REQUESTS.values():
        answer = await full.world.send(method, path, body, company=other)
        if path == PATH and method == "GET":
            assert answer.body["data"] == []
        else:
            assert answer.status == (422 if method == "POST" and path == PATH else 404)
    assert (await full.world.call("GET", f"{PATH}/1")).body["status"] == "IN_LUCRU"


async def test_the_first_version_of_the_api_has_no_counts(world: World) -> None:
    assert (await world.send("GET", "/api/counts")).status == 404
    paths = (await world.send("GET", "/openapi.json")).body["paths"]
    assert not [path for path in paths if "counts" in path]


async def test_graphql_makes_enters_and_books_one(full: Store) -> None:
    async def run(document: str) -> Any:
        answer = await full.world.send("POST", "/api/graphql", {"query": document})
        assert "errors" not in answer.body, answer.body
        return answer.body["data"]

    made = await run(
        'mutation { create_count(input: {warehouse_id: 1, lines: [{article_code: "P"}]}) { id code } }'
    )
    assert made == {"create_count": {"id": "2", "code": "CT-000002"}}
    await run("mutation { update_count(id: 2, input: {lines: [{id: 2, counted_quantity: 9}]}) { id } }")
    booked = await run("mutation { book_count(id: 2) { status lines { booked_quantity article { code } } } }")
    assert booked["book_count"] == {
        "status": "FINALIZAT",
        "lines": [{"booked_quantity": -1, "article": {"code": "P"}}],
    }
    found = await run("{ counts(status: [IN_LUCRU]) { nodes { code warehouse { code } } } }")
    assert found["counts"]["nodes"] == [{"code": "CT-000001", "warehouse": {"code": "MAIN"}}]


async def test_who_did_what_is_told(full: Store) -> None:
    await book(full, await full.world.call("GET", f"{PATH}/1"))
    rows = await full.world.rows(
        "SELECT what, status, actor FROM document_changes WHERE kind = 'count' ORDER BY id"
    )
    told = [("created", "CREAT"), ("changed", None), ("moved", "IN_LUCRU"), ("moved", "FINALIZAT")]
    assert [row[:2] for row in rows] == told
    assert {row[2] for row in rows} == {"admin@example.com (test)"}
