"""Errors as problem details (RFC 9457), for clients that request them."""

import gzip
import json

import pytest

from tests.support.world import World

ASKS = {"Accept": "application/problem+json"}


async def test_an_error_of_fields_as_problem_details(world: World) -> None:
    plain = await world.send("POST", "/api/articles", {"code": ""})
    answer = await world.send("POST", "/api/articles", {"code": ""}, headers=ASKS)
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert answer.status == plain.status == 422
    assert answer.body == {
        "type": "/docs/errors#validation_failed",
        "title": "Validation failed",
        "status": 422,
        "detail": plain.body["message"],
        "code": "VALIDATION_FAILED",
        "errors": plain.errors,
    }
    assert plain.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "path", "token", "status", "code"),
    [
        ("GET", "/api/articles/9", None, 404, "NOT_FOUND"),
        ("GET", "/api/nothing", None, 404, "NOT_FOUND"),
        ("DELETE", "/api/articles", None, 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/api/articles", "wrong", 401, "UNAUTHORIZED"),
    ],
)
async def test_every_refusal_has_the_form_and_its_headers(
    world: World, method: str, path: str, token: str | None, status: int, code: str
) -> None:
    plain = await world.send(method, path, token=token)
    answer = await world.send(method, path, token=token, headers={"Accept": f"application/json, {ASKS['Accept']}"})
    assert (answer.status, answer.body["status"], answer.body["code"]) == (status, status, code)
    assert answer.body["type"] == f"/docs/errors#{code.lower()}"
    kept = {"WWW-Authenticate", "Allow", "X-Content-Type-Options", "Cache-Control", "Vary"}
    assert {name: answer.headers.get(name) for name in kept} == {name: plain.headers.get(name) for name in kept}


async def test_an_answer_that_is_no_error_stays_as_it_is(world: World) -> None:
    answer = await world.send("GET", "/api/articles", headers=ASKS)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")


async def test_problem_details_are_compressed_like_any_answer(world: World) -> None:
    lines = {"lines": [{"article_id": 0, "quantity": -1}] * 60}
    answer = await world.send("POST", "/api/sales-orders", lines, headers={**ASKS, "Accept-Encoding": "gzip"})
    assert json.loads(gzip.decompress(answer.raw))["type"] == "/docs/errors#validation_failed"


async def test_graphql_keeps_its_own_form(world: World) -> None:
    answer = await world.send("POST", "/api/graphql", {"query": "{"}, headers=ASKS)
    assert set(answer.body) == {"errors"}
