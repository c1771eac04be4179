"""GraphQL in the reference: every type has a page, and a document gets the same reply as from the API."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLEnumType, GraphQLInputObjectType, GraphQLObjectType

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.interfaces.pages.work.test_live import again
from tests.interfaces.reference.trying import answered, send, typed_in
from tests.support.shop import Shop, open_shop
from tests.support.world import World, open_world
from wmsd.interfaces.graphql.schema import schema
from wmsd.interfaces.reference.graphql_types import kind_of, short, types_of

TRY = "/try/graphql"
NAMES = "/docs/api/graphql-names.json"
CODES = "{ articles(first: 2) { nodes { code } } }"
MAKE = 'mutation { create_article(input: {code: "MADE", name: "Made"}) { id code } }'
HEAVIEST = 80_000


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def ask(visitor: Visitor, query: str, variables: str = "", **fields: str) -> Seen:
    return await send(visitor, TRY, query=query, variables=variables, **fields)


async def test_every_type_has_its_page_and_every_link_leads_to_one(world: World) -> None:
    stranger = Visitor(world)
    overview = await stranger.get("/docs/api/graphql")
    types = types_of(schema())
    waiting = [overview]
    shown: dict[str, Seen] = {}
    while waiting:
        seen = waiting.pop()
        assert len(seen.text.encode()) < HEAVIEST
        for name in set(re.findall(r'href="/docs/api/graphql/(\w+)', seen.text)) - shown.keys():
            shown[name] = await stranger.get(f"/docs/api/graphql/{name}")
            assert shown[name].status == 200, name
            waiting.append(shown[name])
    assert {name for name, each in types.items() if kind_of(each) != "scalar"} <= shown.keys()
    for name, seen in shown.items():
        of = types[name]
        if isinstance(of, GraphQLObjectType | GraphQLInputObjectType):
            assert all(f'id="{name}-{field}"' in seen.text for field in of.fields)
        if isinstance(of, GraphQLObjectType):
            arguments = (argument for field in of.fields.values() for argument in field.args)
            assert all(f"<code>{argument}</code>: " in seen.text for argument in arguments)
        if isinstance(of, GraphQLEnumType):
            assert all(f"<code>{value}</code>" in seen.text for value in of.values)
    for path in ("/docs/api/graphql/Nothing", "/docs/api/graphql/__Type", "/docs/api/graphql/<b>"):
        assert (await stranger.get(path)).status == 404


async def test_what_completion_reads_is_small_and_has_every_name(world: World) -> None:
    answer = await world.send("GET", NAMES, token="", company="")
    assert answer.status == 200
    assert answer.body == json.loads(json.dumps(short(schema())))
    assert len(answer.raw) < 60_000
    assert answer.body["types"]["Query"]["articles"][1]["first"] == "Int"
    again = await world.send("GET", NAMES, token="", company="", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status == 304


async def test_a_query_is_answered_as_the_person(visitor: Visitor) -> None:
    status, headers, body = answered(await ask(visitor, CODES))
    assert (status, body) == (200, {"data": {"articles": {"nodes": [{"code": "A"}, {"code": "B"}]}}})
    assert headers["X-Query-Cost"]


async def test_variables(visitor: Visitor) -> None:
    query = "query Q($first: Int!) { articles(first: $first) { nodes { code } } }"
    _, _, body = answered(await ask(visitor, query, '{"first": 1}'))
    assert body == {"data": {"articles": {"nodes": [{"code": "A"}]}}}


async def test_a_mutation_that_is_sent_twice_is_done_once(visitor: Visitor) -> None:
    typed = {**typed_in(await visitor.get(f"{TRY}?company=1")), "query": MAKE, "variables": ""}
    first, second = answered(await visitor.post(TRY, typed)), answered(await visitor.post(TRY, typed))
    assert first[2]["data"] == second[2]["data"]
    assert first[2]["data"]["create_article"]["code"] == "MADE"
    assert second[1]["Idempotent-Replayed"] == "true"
    assert len((await visitor.world.send("GET", "/api/articles?code=MADE")).body["data"]) == 1


async def test_all_sessions_of_a_person_count_towards_the_limits_of_the_company(tmp_path: Path) -> None:
    limits = {"limits": {"graphql_per_minute": 3, "data_per_minute": 1}}
    async with open_world(tmp_path / "data", limits) as world:
        await open_shop(world)
        visitor = await signed_in(world)
        browsers = [visitor, await again(visitor), await again(visitor)]
        assert "errors" not in answered(await ask(visitor, MAKE))[2]
        second = answered(await ask(browsers[1], MAKE.replace("MADE", "MORE")))[2]
        assert second["errors"][0]["extensions"]["code"] == "RATE_LIMIT_EXCEEDED", "a mutation is a data request"
        as_token = await world.send("POST", "/api/graphql", {"query": CODES})
        assert (as_token.status, as_token.headers["X-RateLimit-Remaining"]) == (200, "0")
        status, headers, third = answered(await ask(browsers[2], CODES))
        assert (status, third["errors"][0]["extensions"]["code"]) == (429, "RATE_LIMIT_EXCEEDED")
        assert headers["Retry-After"] == "60"


async def test_the_abilities_of_the_person_decide(shop: Shop) -> None:
    visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    _, _, body = answered(await ask(visitor, MAKE))
    assert body["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert (await shop.world.send("GET", "/api/articles?code=MADE")).body["data"] == []


@pytest.mark.parametrize(
    "query",
    [CODES, MAKE.replace("MADE", "A"), "{", "{ nothing }", "{ partners(first: 1) { nodes { code } } }", ""],
)
async def test_with_a_token_it_is_answered_as_by_the_api(visitor: Visitor, query: str) -> None:
    accept = {"Accept": "application/graphql-response+json, application/json"}
    direct = await visitor.world.send("POST", "/api/graphql", {"query": query}, headers=accept)
    tried = answered(await ask(visitor, query, **{"as": "token", "token": visitor.world.token}))
    assert (tried[0], tried[2]) == (direct.status, direct.body)
    assert tried[1]["Content-Type"] == direct.headers["Content-Type"]


async def test_with_a_token_requests_have_it(visitor: Visitor) -> None:
    seen = await ask(visitor, "{ nothing }", **{"as": "token", "token": visitor.world.token})
    link = re.search(r'<a href="(/companies/1/requests/\w+)">', seen.text)
    assert link
    kept = await visitor.get(link[1])
    assert (kept.status, "run_graphql" in kept.text) == (200, True)
    assert visitor.world.token not in seen.text + kept.text


@pytest.mark.parametrize("variables", ["{", "[1]", "1", '"x"', "[" * 5000])
async def test_variables_that_are_no_object_are_named(visitor: Visitor, variables: str) -> None:
    seen = await ask(visitor, CODES, variables)
    assert (seen.status, "Variables must be a JSON object." in seen.text) == (422, True)
    assert html.escape(CODES) in seen.text or CODES in html.unescape(seen.text)


async def test_what_json_should_not_hold_is_refused_by_the_operation(visitor: Visitor) -> None:
    for variables in ('{"a": 1e999}', '{"a": NaN}', '{"a": "\\ud800"}'):
        status, _, body = answered(await ask(visitor, CODES, variables))
        assert (status, "errors" in body) == (400, True), variables


async def test_hostile_documents_are_bounded_as_in_the_api(visitor: Visitor) -> None:
    deep = "{ articles(first: 1) { nodes " + "{ stock { warehouse " * 200
    for query in (deep, "{ a: __typename " * 2000, "# " * 25_000):
        status, _, body = answered(await ask(visitor, query))
        assert (status, "errors" in body) == (400, True)
    too_long = await ask(visitor, "a" * 70_000)
    assert (too_long.status, "Query is over 64 kB, together with its variables." in too_long.text) == (422, True)
    assert (await ask(visitor, "a" * 300_000)).status == 413


async def test_another_company_is_none(visitor: Visitor) -> None:
    assert (await visitor.get(f"{TRY}?company=99")).status == 404


def names_of(value: Any) -> set[str]:
    return set(value["types"]) | set(value["inputs"]) | set(value["enums"])


def test_every_type_that_is_referred_to_is_there_or_a_scalar() -> None:
    value = short(schema())
    scalars = {name for name, each in types_of(schema()).items() if kind_of(each) == "scalar"}
    for fields in value["types"].values():
        for of, *arguments in fields.values():
            assert {of, *(arguments[0].values() if arguments else ())} <= names_of(value) | scalars
