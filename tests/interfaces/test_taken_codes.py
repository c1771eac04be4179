"""A code that is taken: programs that may read the other record learn its id."""

from typing import Any

import pytest_asyncio

from tests.interfaces.test_bad_input import Stocked, open_stocked
from tests.interfaces.writing import ARTICLE, DOCUMENTS
from tests.support.world import World
from wmsd.contract.access import ABILITIES, READ_ABILITIES


@pytest_asyncio.fixture
async def stocked(world: World) -> Stocked:
    return await open_stocked(world)


async def test_who_may_read_a_record_learns_which_has_the_code(stocked: Stocked) -> None:
    world = stocked.world
    blind = await world.new_token("admin@example.com", [*ABILITIES.keys() - READ_ABILITIES])
    bodies: dict[str, dict[str, Any]] = {"/api/articles": ARTICLE, **DOCUMENTS}
    for path, body in bodies.items():
        (held,) = (await world.call("GET", path)).body["data"]
        taken = {**body, "code": held["code"], "external_ref": None}
        noun = {"/api/v2/counts": "count"}.get(path, path.removeprefix("/api/").rstrip("s").replace("-", " "))
        for form in ({}, {"notes" if path in DOCUMENTS else "name": 5}):
            answer = await world.call("POST", path, {**taken, **form}, status=422)
            assert answer.errors["code"] == [f"is taken by another {noun}"]
            assert answer.body["details"] == {"code_taken_by": held["id"]}
        if path == "/api/returns":
            continue  # for returns, the ability to read is enough to write
        answer = await world.call("POST", path, taken, status=422, token=blind)
        assert answer.errors["code"] == [f"is taken by another {noun}"]
        assert "details" not in answer.body


async def test_it_stands_beside_the_id_of_a_taken_reference(stocked: Stocked) -> None:
    world = stocked.world
    await world.send("POST", "/api/articles", {"code": "X", "name": "X", "external_ref": "X"})
    both = {"code": "OLD", "name": "New", "external_ref": "X"}
    answer = await world.call("POST", "/api/articles", both, status=422)
    assert answer.body["details"] == {"id": 2, "code_taken_by": 1}
    query = 'mutation { create_article(input: {code: "OLD", name: "New"}) { id } }'
    (error,) = (await world.send("POST", "/api/graphql", {"query": query})).body["errors"]
    assert error["extensions"]["details"] == {"code_taken_by": 1}
