"""The parts of GraphQL over HTTP that the audit of test_graphql_audit.py does not check."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.raw_http import Request
from tests.support.world import Answer, World, open_world
from wmsd.contract.operation import MAX_BODY
from wmsd.interfaces.graphql.media_type import JSON, RESPONSE, media_type
from wmsd.interfaces.graphql.over_http import PATH

SOUND = {"query": "{ __typename }"}
BOTH = pytest.mark.parametrize("accept", [RESPONSE, JSON])
CREATE = 'mutation { create_article(input: {code: "A", name: "A"}) { id } }'


def asked(**parameters: str) -> str:
    """Return the address of a GET request."""
    return f"{PATH}?{urlencode(parameters)}"


def refusal(answer: Answer, code: str = "VALIDATION_FAILED", media: str = JSON) -> str:
    """Return the message of the only error in a reply without data."""
    assert answer.headers["Content-Type"] == f"{media}; charset=utf-8"
    assert answer.body.keys() == {"errors"}
    (error,) = answer.body["errors"]
    assert error["extensions"]["code"] == code
    return str(error["message"])


# --- the media type of the reply ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (JSON, JSON),
        (RESPONSE, RESPONSE),
        (RESPONSE.upper(), RESPONSE),
        (f"{RESPONSE}; charset=utf-8, {JSON}; charset=utf-8", RESPONSE),
        (f"{JSON}, {RESPONSE}", RESPONSE),
        (f"{RESPONSE};q=0.9, {JSON}", JSON),
        (f"{RESPONSE}, {JSON};q=0.9", RESPONSE),
        (f"{RESPONSE};q=0.5, */*", JSON),
        (f"{RESPONSE}, */*;q=0.1", RESPONSE),
        (f"text/html, {RESPONSE};q=0.1", RESPONSE),
        ("text/html, application/xhtml+xml, */*;q=0.8", JSON),
        (f"{JSON};q=0, */*", RESPONSE),
        (f"{JSON};q=0.2, application/*;q=0.3", RESPONSE),
        (f"{JSON};charset=utf-16, {RESPONSE};q=0.1", RESPONSE),
        (f'{JSON}; charset="UTF-8"', JSON),
        ("text/html", None),
        ("text/*", None),
        ("*/*;q=0", None),
        (f"{JSON};q=0", None),
        (f"{JSON};q=nonsense", None),
        (f"{JSON};charset=utf-16", None),
        ("nonsense", None),
    ],
)
def test_the_answer_is_of_the_type_that_is_liked_best(accept: str | None, answered: str | None) -> None:
    assert media_type(accept) == answered


def test_only_so_much_of_an_accept_is_read() -> None:
    much = "text/html, " * 100_000
    assert media_type(f"{RESPONSE}, {much}") == RESPONSE
    assert media_type(f"{much}{RESPONSE}") is None


async def test_an_accept_that_is_sent_in_parts_is_one(world: World) -> None:
    headers = [("Authorization", f"Bearer {world.token}"), ("Accept", f"{JSON};q=0.1"), ("Accept", RESPONSE)]
    async with world.session.post(f"{world.base_url}{PATH}", json=SOUND, headers=headers) as answer:
        assert (answer.status, answer.content_type) == (200, RESPONSE)


async def test_nothing_is_done_for_those_who_cannot_read_the_answer(world: World) -> None:
    answer = await world.call("POST", PATH, {"query": CREATE}, headers={"Accept": "text/html"}, status=406)
    assert refusal(answer) == f"Accept {RESPONSE} or {JSON}."
    assert await world.rows("SELECT id FROM articles") == []


# --- valid requests -------------------------------------------------------------------------------------------


async def test_get_and_post_say_the_same(world: World) -> None:
    query = "query A($a: Boolean!) { __typename @include(if: $a) } query B { b: __typename }"
    variables = {"a": True}
    for name, data in (("A", {"__typename": "Query"}), ("B", {"b": "Query"})):
        body = {"query": query, "operationName": name, "variables": variables, "extensions": {"x": 1}}
        posted = await world.call("POST", PATH, body)
        address = asked(query=query, operationName=name, variables=json.dumps(variables), extensions='{"x": 1}')
        assert posted.body == (await world.call("GET", address)).body == {"data": data}


@pytest.mark.parametrize("nothing", ["", "null"])
async def test_optional_parameters_of_a_get_may_be_empty(world: World, nothing: str) -> None:
    address = asked(**SOUND, operationName="", variables=nothing, extensions=nothing)
    assert (await world.call("GET", address)).body == {"data": {"__typename": "Query"}}


async def test_null_in_the_address_is_the_name_of_an_operation(world: World) -> None:
    answer = await world.call("GET", asked(query="query null { __typename }", operationName="null"))
    assert answer.body == {"data": {"__typename": "Query"}}


async def test_members_that_nobody_knows_are_left_alone(world: World) -> None:
    assert (await world.call("POST", PATH, {**SOUND, "id": 1})).body == {"data": {"__typename": "Query"}}
    assert (await world.call("GET", asked(**SOUND, id="1"))).body == {"data": {"__typename": "Query"}}


@BOTH
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "is not valid JSON"),
        (b"NONSENSE", "is not valid JSON"),
        (b'"{ __typename }"', "must be a JSON object"),
        (b'[{"query": "{ __typename }"}]', "must be a JSON object"),
        (b"[]", "must be a JSON object"),
        (json.dumps(SOUND).encode("utf-16"), "is not UTF-8"),
        (b"[" * 9_000, "more than 32 levels of nesting"),
        (b'{"variables": {}}', "as a string in `query`"),
        (b'{"query": null}', "as a string in `query`"),
        (b'{"query": "{ a }", "query": "{ b }"}', "as a string in `query`"),
        (b'{"query": "{ __typename }", "variables": [7]}', "`variables` must be an object"),
        (b'{"query": "{ __typename }", "variables": {"a": 1, "a": 2}}', "variables.a is given twice"),
        (b'{"query": "{ __typename }", "variables": {"a": NaN}}', "variables.a must be a number, not NaN"),
        (b'{"query": "{ __typename }", "operationName": 1}', "`operationName` must be a string"),
        (b'{"query": "{ __typename }", "extensions": "x"}', "`extensions` must be an object"),
    ],
)
async def test_a_body_that_is_no_request_is_400(world: World, accept: str, body: bytes, says: str) -> None:
    answer = await world.call("POST", PATH, raw=body, headers={"Accept": accept}, status=400)
    assert says in refusal(answer, media=accept)


@BOTH
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "as a string in `query`"),
        ("variables={}", "as a string in `query`"),
        ("query={a}&query={b}", "One field is not valid."),
        ("query={__typename}&variables=nonsense", "`variables` must be a JSON object"),
        ("query={__typename}&variables=[7]", "`variables` must be a JSON object"),
        ("query={__typename}&variables={},%22more%22:{}", "`variables` must be a JSON object"),
        (f"query={{__typename}}&variables={'[' * 2_000}", "`variables` must be a JSON object"),
        ("query={__typename}&variables={%22a%22:1,%22a%22:2}", "variables.a is given twice"),
        ("query={__typename}&variables={%22a%22:NaN}", "variables.a must be a number, not NaN"),
        ("query={__typename}&extensions=7", "`extensions` must be a JSON object"),
    ],
)
async def test_an_address_that_is_no_request_is_400(world: World, accept: str, query: str, says: str) -> None:
    answer = await world.call("GET", f"{PATH}?{query}", headers={"Accept": accept}, status=400)
    assert says in refusal(answer, media=accept)


@pytest.mark.parametrize(
    "sent", ["text/plain", "application/graphql", "application/x-www-form-urlencoded", RESPONSE, "nonsense"]
)
async def test_a_body_of_another_type_is_415(world: World, sent: str) -> None:
    answer = await world.call("POST", PATH, SOUND, headers={"Content-Type": sent}, status=415)
    assert "Content-Type: application/json" in refusal(answer)


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"'])
async def test_a_body_may_say_that_it_is_utf_8(world: World, charset: str) -> None:
    await world.call("POST", PATH, SOUND, headers={"Content-Type": f"{JSON}; charset={charset}"})


async def test_a_body_in_another_charset_is_415(world: World) -> None:
    answer = await world.call(
        "POST", PATH, SOUND, headers={"Content-Type": f"{JSON}; charset=iso-8859-1"}, status=415
    )
    assert refusal(answer) == "Send the body in UTF-8."


async def test_a_body_that_is_too_big_is_413_before_it_is_sent(world: World) -> None:
    sound = world.caller.post(PATH, SOUND)
    length = f"Content-Length: {len(sound.body)}".encode()
    announced = Request(sound.head.replace(length, f"Content-Length: {MAX_BODY + 1}".encode()), b"")
    answer = await world.caller.ask(announced)
    assert (answer.status, answer.body["errors"][0]["extensions"]["code"]) == (413, "VALIDATION_FAILED")


async def test_a_body_that_grows_too_big_is_413(world: World) -> None:
    answer = await world.call("POST", PATH, raw=b" " * (MAX_BODY + 1), status=413)
    assert "over 1024 KiB" in refusal(answer)


# --- methods --------------------------------------------------------------------------------------------------


@BOTH
async def test_a_mutation_by_get_is_405_and_not_done(world: World, accept: str) -> None:
    answer = await world.call("GET", asked(query=CREATE), headers={"Accept": accept}, status=405)
    assert refusal(answer, "METHOD_NOT_ALLOWED", accept) == "Send mutations by POST."
    assert answer.headers["Allow"] == "POST"
    assert await world.rows("SELECT id FROM articles") == []


async def test_a_query_beside_a_mutation_may_be_asked_for_by_get(world: World) -> None:
    query = f"query Read {{ __typename }} {CREATE.replace('mutation', 'mutation Write')}"
    answer = await world.call("GET", asked(query=query, operationName="Read"))
    assert answer.body == {"data": {"__typename": "Query"}}
    await world.call("GET", asked(query=query, operationName="Write"), status=405)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "QUERY"])
async def test_another_method_is_405_in_the_form_of_graphql(world: World, method: str) -> None:
    answer = await world.call(method, PATH, SOUND, headers={"Accept": RESPONSE}, status=405)
    told = f"The method {method} is not possible at this address. Possible methods: GET, HEAD, OPTIONS, POST."
    assert refusal(answer, "METHOD_NOT_ALLOWED", RESPONSE) == told
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, POST"


async def test_head_is_as_get_and_never_a_mutation(world: World) -> None:
    shown, told = await world.call("GET", asked(**SOUND)), await world.call("HEAD", asked(**SOUND))
    assert (told.raw, told.headers["Content-Length"]) == (b"", str(len(shown.raw)))
    await world.call("HEAD", asked(query=CREATE), headers={"Accept": RESPONSE}, status=405)
    assert (await world.call("GET", "/api/articles")).body["data"] == []


# --- statuses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_body", "says"),
    [
        ({"query": ""}, "Syntax Error"),
        ({"query": "{"}, "Syntax Error"),
        ({"query": "{ nonsense }"}, "Cannot query field 'nonsense'"),
        ({"query": "query A { __typename } query B { __typename }"}, "several operations; send operationName"),
        ({"query": "query A { __typename }", "operationName": "B"}, "no operation 'B'"),
        (
            {"query": "query ($id: ID!) { article(id: $id) { id } }", "variables": {"id": None}},
            "of non-null type 'ID!'",
        ),
        ({"query": "subscription { nonsense }"}, "is not supported"),
    ],
)
async def test_a_document_that_cannot_be_run_is_400_and_for_plain_json_200(
    world: World, request_body: dict[str, Any], says: str
) -> None:
    for accept, status in ((RESPONSE, 400), (JSON, 200)):
        answer = await world.call("POST", PATH, request_body, headers={"Accept": accept}, status=status)
        assert says in refusal(answer, media=accept)


@BOTH
async def test_what_fails_while_it_is_run_is_200_with_data(world: World, accept: str) -> None:
    query = "{ __typename article(id: 99) { id } }"
    answer = await world.call("POST", PATH, {"query": query}, headers={"Accept": accept})
    assert answer.body["data"] == {"__typename": "Query", "article": None}
    assert [error["path"] for error in answer.body["errors"]] == [["article"]]


@BOTH
async def test_who_may_not_ask_at_all_is_told_so_by_the_status(world: World, accept: str) -> None:
    headers = {"Accept": accept}
    answer = await world.call("POST", PATH, SOUND, token="", headers=headers, status=401)
    assert "needs a token" in refusal(answer, "UNAUTHORIZED", accept)
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    answer = await world.call("POST", PATH, SOUND, headers={**headers, "X-Three-Pl-Id": "9"}, status=403)
    assert "is not the id of this company's operator" in refusal(answer, "FORBIDDEN", accept)
    answer = await world.call("POST", PATH, SOUND, company=99, headers=headers, status=422)
    assert "Send X-Company-Id" in refusal(answer, "COMPANY_REQUIRED", accept)


@BOTH
async def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path, accept: str) -> None:
    async with open_world(tmp_path / "data", {"limits": {"graphql_per_minute": 1}}) as world:
        await world.call("POST", PATH, SOUND)
        answer = await world.call("POST", PATH, SOUND, headers={"Accept": accept}, status=429)
        refusal(answer, "RATE_LIMIT_EXCEEDED", accept)
        assert int(answer.headers["Retry-After"]) > 0
