"""The executor of wmsd returns the same as graphql-core, over the records of REST."""

import json
from random import Random
from typing import Any

import pytest
import pytest_asyncio
from graphql import build_client_schema, get_introspection_query, print_schema
from hypothesis import HealthCheck, event, given, reject, settings
from hypothesis import strategies as st

from tests.interfaces.graphql.catalogue import Catalogue, Json
from tests.interfaces.graphql.oracle import Oracle, read_oracle
from tests.interfaces.graphql.queries import Query, mangled
from tests.support.thorough import IS_THOROUGH
from wmsd.interfaces.graphql.schema import schema

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def oracle(catalogue: Catalogue) -> Oracle:
    return await read_oracle(catalogue)


async def the_same(catalogue: Catalogue, oracle: Oracle, document: str, variables: Json | None = None) -> Any:
    """Compare the reply with that of the oracle, including the order of its keys. Return the data."""
    expected = oracle.execute(document, variables or {})
    answer = (await catalogue.send(document, variables)).body
    assert json.dumps(answer["data"]) == json.dumps(expected.data), document
    paths = sorted(error.path or [] for error in expected.errors or [])
    assert sorted(error["path"] for error in answer.get("errors", [])) == paths, document
    return answer["data"]


@settings(max_examples=400 if IS_THOROUGH else 40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**64))
async def test_random_queries(catalogue: Catalogue, oracle: Oracle, seed: int) -> None:
    asked = Query(Random(seed), oracle).write()
    answer = (await catalogue.send(asked.document, asked.variables)).body
    if "data" not in answer:
        message = answer["errors"][0]["message"]
        assert "allowed" in message or "The query costs" in message or "token" in message, (
            message,
            asked.document,
        )
        event(" ".join(message.split()[:6]))
        reject()
    await the_same(catalogue, oracle, asked.document, asked.variables)


@settings(max_examples=400 if IS_THOROUGH else 40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**64))
async def test_mangled_queries_are_answered_or_refused(catalogue: Catalogue, oracle: Oracle, seed: int) -> None:
    random = Random(seed)
    asked = mangled(Query(random, oracle).write(), random)
    answer = await catalogue.send(asked.document, asked.variables)
    assert answer.status in (200, 400)
    if "data" in answer.body:
        await the_same(catalogue, oracle, asked.document, asked.variables)
    else:
        assert {error["extensions"]["code"] for error in answer.body["errors"]} == {"VALIDATION_FAILED"}


# --- by hand ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        "{ __typename a: __typename articles(first: 1) { __typename nodes { __typename } } }",
        "{ articles(first: 2) { edges { __typename a: node { id } b: node { code } node { stock { id } } } } }",
        "{ articles(first: 2) { edges { cursor a: cursor } } }",
        "{ articles(first: 2) { edges { cursor @skip(if: true) } nodes { id @skip(if: true) } } }",
        "{ articles(first: 2) { a: nodes { id } b: nodes { code } nodes { id name } nodes { unit id } } }",
        "{ articles { pageInfo { __typename hasNextPage hasPreviousPage startCursor endCursor } __typename } }",
        "{ a: articles { nodes { id } } a: articles { nodes { id code } pageInfo { endCursor } } }",
        "{ article(id: 1) { id: code code: id name: __typename __typename: name } }",
        "{ article(id: 1) { client { address { __typename } } client { address { city } id } } }",
        "{ clients { nodes { address { __typename city country } } } }",
        "{ stock(first: 3) { nodes { lots { lot_number quantity } serials } } }",
        "{ stock(first: 5) { nodes { article { stock(first: 2) { lots { __typename } serials } } } } }",
        "{ sales_orders { nodes { lines { article { stock(first: 1) { warehouse { address { city } } } } } } } }",
        "{ returns { nodes { sales_order { partner { name } lines { id } } lines { disposition } } } }",
        "{ receptions { nodes { purchase_order { status_history { at status } } selected_items { quantity } } } }",
        "{ events(first: 3) { nodes { data entity_id } } webhooks { nodes { last_delivery { id } events } } }",
        "{ ...A ...A ... { ...A } } fragment A on Query { articles(first: 1) { nodes { ...B ...B } } }"
        " fragment B on Article { id ... on Article { id code } ... @include(if: true) { name } }",
        "{ article(id: 1) { id } other: article(id: 999) { id } last: article(id: 2) { id } }",
        '{ article(id: "x") { id } return(id: 0) { id } webhook(id: "-1") { id } client(id: "1 ") { id } }',
        "query($no: Boolean! = false) { articles(first: 1) @include(if: $no) { nodes { id } } __typename }",
        "query($yes: Boolean = true) { articles @include(if: $yes) { nodes { id @skip(if: $yes) } } }",
        "query($n: Int = 2) { articles(first: $n, search: null, code: null) { nodes { id } } }",
    ],
)
async def test_corners(catalogue: Catalogue, oracle: Oracle, document: str) -> None:
    await the_same(catalogue, oracle, document)


async def test_ids_are_texts_and_may_be_sent_as_numbers(catalogue: Catalogue) -> None:
    document = "query($id: ID!) { article(id: $id) { id client_id } }"
    for record_id in (1, "1"):
        assert await catalogue.ask(document, {"id": record_id}) == {"article": {"id": "1", "client_id": "1"}}


async def test_a_record_that_is_not_there_is_null_and_the_others_are_shown(catalogue: Catalogue) -> None:
    document = "{\n  article(id: 1) { id }\n  gone: sales_order(id: 77) { id }\n}"
    answer = (await catalogue.send(document)).body
    assert answer == {
        "data": {"article": {"id": "1"}, "gone": None},
        "errors": [
            {
                "message": "There is no such sales order.",
                "locations": [{"line": 3, "column": 3}],
                "path": ["gone"],
                "extensions": {"code": "NOT_FOUND", "status": 404},
            }
        ],
    }


# --- records that a token may not see --------------------------------------------------------------------------


async def test_a_root_field_without_its_ability_is_null(catalogue: Catalogue) -> None:
    token = await catalogue.world.new_token("admin@example.com", ["articles:read"])
    answer = (
        await catalogue.send("{ articles(first: 1) { nodes { id } } stock { nodes { id } } }", token=token)
    ).body
    assert answer["data"] == {"articles": {"nodes": [{"id": "1"}]}, "stock": None}
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]) == (["stock"], {"code": "FORBIDDEN", "status": 403})
    assert error["message"] == "This token lacks the ability stock:read."


async def test_a_reference_without_its_ability_is_null_everywhere_and_said_once(catalogue: Catalogue) -> None:
    token = await catalogue.world.new_token("admin@example.com", ["sales-orders:read", "partners:read"])
    document = "{ sales_orders { nodes { id partner { id } lines { id a: article { id } } } } }"
    answer = (await catalogue.send(document, token=token)).body
    assert [error["path"] for error in answer["errors"]] == [["sales_orders", "nodes", 0, "lines", 0, "a"]]
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    orders = answer["data"]["sales_orders"]["nodes"]
    assert {line["a"] for order in orders for line in order["lines"]} == {None}
    assert {order["partner"]["id"] for order in orders} == {"1", "2"}


async def test_a_collection_without_its_ability_is_null_everywhere_and_said_once(catalogue: Catalogue) -> None:
    token = await catalogue.world.new_token("admin@example.com", ["articles:read"])
    answer = (await catalogue.send("{ articles { edges { node { s: stock { id } } } } }", token=token)).body
    assert [error["path"] for error in answer["errors"]] == [["articles", "edges", 0, "node", "s"]]
    assert {each["node"]["s"] for each in answer["data"]["articles"]["edges"]} == {None}


async def test_a_module_that_is_off_is_null_for_that_field_alone(catalogue: Catalogue) -> None:
    await catalogue.world.set_module("ACME", "returns", False)
    try:
        answer = (await catalogue.send("{ returns { nodes { id } } article(id: 1) { id } }")).body
    finally:
        await catalogue.world.set_module("ACME", "returns", True)
    assert answer["data"] == {"returns": None, "article": {"id": "1"}}
    assert [error["message"] for error in answer["errors"]] == ["The module returns is off for this company."]


# --- errors that refuse a whole document -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "variables", "sentence"),
    [
        ("query($yes: Boolean = true) { articles @skip(if: $yes) { nodes { id } } }", {"yes": None}, "null"),
        ("query($n: Int = 1) { articles(first: $n) { nodes { id } } }", {"n": None}, "null"),
        ("query($n: Int = 1) { articles { nodes { stock(first: $n) { id } } } }", {"n": None}, "null"),
        ("query($n: Int!) { articles(first: $n) { nodes { id } } }", {}, "to be provided"),
        ("query($id: ID!) { article(id: $id) { id } }", {"id": True}, "ID cannot represent"),
        ("query($id: ID!) { article(id: $id) { id } }", {"id": 1.5}, "ID cannot represent"),
    ],
)
async def test_variables_that_do_not_fit(
    catalogue: Catalogue, document: str, variables: Json, sentence: str
) -> None:
    answer = (await catalogue.send(document, variables)).body
    assert set(answer) == {"errors"}
    assert sentence in answer["errors"][0]["message"]
    assert answer["errors"][0]["extensions"]["code"] == "VALIDATION_FAILED"


async def test_what_a_document_tells_of_the_schema_stands_among_the_rest(catalogue: Catalogue) -> None:
    document = """
        { a: article(id: 1) { id } __schema { queryType { name } } ...T b: article(id: 2) { id } }
        fragment T on Query { t: __type(name: "Lot") { name fields { name } } }
    """
    found = await catalogue.ask(document)
    assert list(found) == ["a", "__schema", "t", "b"]
    assert found["__schema"] == {"queryType": {"name": "Query"}}
    assert found["t"]["fields"] == [{"name": "lot_number"}, {"name": "quantity"}, {"name": "available"}]


async def test_what_graphiql_asks_of_the_schema_is_answered(catalogue: Catalogue) -> None:
    every = {"specified_by_url": True, "directive_is_repeatable": True, "schema_description": True}
    told = await catalogue.ask(get_introspection_query(**every, input_value_deprecation=True))
    assert print_schema(build_client_schema(told)) == print_schema(schema())


async def test_the_operation_that_is_named_is_run(catalogue: Catalogue) -> None:
    document = "query A { article(id: 1) { id } } query B { article(id: 2) { id } }"
    assert await catalogue.ask(document, name="B") == {"article": {"id": "2"}}
    for name, sentence in (
        (None, "The document has several operations; send operationName."),
        ("C", "The document has no operation 'C'."),
    ):
        assert [error["message"] for error in await catalogue.errors(document, name=name)] == [sentence]
