"""A mutation has the same effect as its REST request. Each is executed in one of two equal worlds, and the request
in the other. The replies are the same, and so is every row of every table.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.interfaces.graphql.catalogue import Catalogue, Json, open_catalogue
from tests.interfaces.graphql.mutation_cases import CASES, HOOK, ORDER, REFUSED, Case, creates
from tests.interfaces.graphql.pair import EVENT_ID, Pair, as_graphql, mutation_fields, rows_of, written
from tests.support.authority import found_authority
from tests.support.receivers import ANY_PORT, Receiver
from tests.support.world import UNLIMITED, open_world
from wmsd.interfaces.graphql.root_fields import MUTATIONS

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    """Open two worlds; every test changes both in the same way."""
    async with (
        open_world(tmp_path_factory.mktemp("mine") / "data", UNLIMITED) as mine,
        open_world(tmp_path_factory.mktemp("other") / "data", UNLIMITED) as other,
    ):
        made = Pair(await open_catalogue(mine), (await open_catalogue(other)).world)
        await made.are_alike()
        yield made


async def test_every_mutation_is_tried() -> None:
    assert {case.name for case in CASES.values()} == {each.name for each in MUTATIONS}


@pytest.mark.parametrize("name", CASES)
async def test_a_mutation_does_what_rest_does(pair: Pair, name: str) -> None:
    case = CASES[name]
    value, errors, told = await pair.do(case)
    if name in REFUSED:
        assert told.status == REFUSED[name]
        assert value is None
        (error,) = errors
        assert error["path"] == [case.name]
        assert {"message": error["message"], **error["extensions"]} == {**told.body, "status": told.status}
    else:
        assert (errors, told.status // 100) == ([], 2)
        expected = True if told.status == 204 else as_graphql(mutation_fields()[case.name], told.body)
        assert alike(value) == alike(expected)


def alike(value: Any) -> Any:
    """Return the value without the ids of events."""
    return json.loads(EVENT_ID.sub("an id", json.dumps(value)))


TEXTS = {
    "nothing": "",
    "too long": "x" * 5000,
    "a control character": "a\0b",
    "a line break": "a\nb",
    "blanks around": " a ",
}


@pytest.mark.parametrize("value", TEXTS)
@pytest.mark.parametrize(
    "of", ["an article", "an order", "a purchase", "a reception", "a return", "a subscription"]
)
async def test_a_text_that_cannot_be_is_refused_as_by_rest(pair: Pair, of: str, value: str) -> None:
    case = CASES[of]
    field = "name" if of == "a subscription" else "code"
    body = {**case.body, field: TEXTS[value]}
    found, (error,), told = await pair.do(Case(case.name, case.method, case.path, {"input": body}, body))
    assert (found, told.status) == (None, 422)
    assert error["extensions"]["errors"] == told.errors


# --- values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record_id", [2, "2"])
async def test_ids_are_taken_as_texts_and_as_numbers(pair: Pair, record_id: Any) -> None:
    body = {**ORDER, "partner_id": record_id, "lines": [{"article_id": record_id, "quantity": 0.01}]}
    numbers = {**ORDER, "partner_id": 2, "lines": [{"article_id": 2, "quantity": 0.01}]}
    found, errors, _ = await pair.do(
        Case("create_sales_order", "POST", "/api/sales-orders", {"input": body}, numbers)
    )
    assert (errors, found["partner_id"], found["lines"][0]["article_id"]) == ([], "2", "2")


@pytest.mark.parametrize("wrong", ["x", "", "1.0", "-1", "9" * 40, "٣"])
async def test_what_is_no_id_is_named(catalogue: Catalogue, wrong: str) -> None:
    body = {**ORDER, "partner_id": wrong}
    document, variables = written(Case("create_sales_order", "", "", {"input": body}))
    (error,) = await catalogue.errors(document, variables)
    assert list(error["extensions"]["errors"]) == ["partner_id"]


@pytest.mark.parametrize(
    "number", ["0.000001", "999999999.999999", "0.1", "1e-6", "12345678.900000", "100", "0.3"]
)
async def test_decimals_are_exact_as_literals_and_as_variables(catalogue: Catalogue, number: str) -> None:
    document = f"mutation {{ update_article(id: 4, input: {{weight_kg: {number}}}) {{ weight_kg }} }}"
    raw = json.dumps({"query": document}).encode()
    by_variable = "mutation($w: Decimal) { update_article(id: 4, input: {weight_kg: $w}) { weight_kg } }"
    for content in (raw, f'{{"query": {json.dumps(by_variable)}, "variables": {{"w": {number}}}}}'.encode()):
        answer = await catalogue.world.send("POST", "/api/graphql", raw=content)
        assert answer.body["data"]["update_article"]["weight_kg"] == float(number)
        stored = await catalogue.world.rows("SELECT weight_kg FROM articles WHERE id = 4")
        assert stored == [(round(float(number) * 1_000_000),)]
        await catalogue.ask("mutation { update_article(id: 4, input: {weight_kg: null}) { id } }")


@pytest.mark.parametrize(
    ("number", "says"),
    [
        ("0.0000001", "must have at most 6 decimal places"),
        ("1000000000", "must be at most 999999999.999999"),
        ('"1"', "must be a number"),
        ("true", "must be a number"),
        ("-1", "must not be below 0"),
    ],
)
async def test_numbers_that_cannot_be_are_refused(catalogue: Catalogue, number: str, says: str) -> None:
    document = f"mutation {{ update_article(id: 5, input: {{weight_kg: {number}}}) {{ id }} }}"
    assert says in json.dumps(await catalogue.errors(document))
    by_variable = "mutation($w: Decimal) { update_article(id: 5, input: {weight_kg: $w}) { id } }"
    assert says in json.dumps(await catalogue.errors(by_variable, {"w": json.loads(number)}))


async def test_null_empties_a_field_and_what_is_absent_stays(catalogue: Catalogue) -> None:
    world = catalogue.world
    fields = "barcode description external_ref name"
    await world.send("PATCH", "/api/articles/6", {"barcode": "9", "description": "d", "external_ref": "e"})
    document = f"""mutation($input: ArticleChangesInput!, $given: String, $not_given: String) {{
        a: update_article(id: 6, input: $input) {{ {fields} }}
        b: update_article(id: 6, input: {{description: $given, external_ref: $not_given}}) {{ {fields} }}
    }}"""
    found = await catalogue.ask(document, {"input": {"barcode": None}, "given": None})
    assert found["a"] == {"barcode": None, "description": "d", "external_ref": "e", "name": "By the box"}
    assert found["b"] == {"barcode": None, "description": None, "external_ref": "e", "name": "By the box"}


async def test_null_where_none_may_be_is_refused_as_by_rest(catalogue: Catalogue) -> None:
    document = "mutation { update_article(id: 6, input: {name: null, unit: null}) { id } }"
    (error,) = await catalogue.errors(document)
    told = await catalogue.world.send("PATCH", "/api/articles/6", {"name": None, "unit": None})
    assert error["extensions"]["errors"] == told.errors
    assert set(told.errors) == {"name", "unit"}


# --- several mutations -----------------------------------------------------------------------------------------


async def test_mutations_are_done_in_their_order(catalogue: Catalogue) -> None:
    world = catalogue.world
    before = await world.last_event()
    document = " ".join(
        f'm{number}: update_article(id: 7, input: {{name: "Name {number}"}}) {{ name }}' for number in range(20)
    )
    found = await catalogue.ask(f"mutation {{ {document} }}")
    assert list(found) == [f"m{number}" for number in range(20)]
    assert [each["name"] for each in found.values()] == [f"Name {number}" for number in range(20)]
    told = [data["name"] for _, data in await world.events_after(before)]
    assert told == [f"Name {number}" for number in range(20)]


async def test_one_that_is_refused_does_not_stop_the_others(catalogue: Catalogue) -> None:
    document = """mutation {
        a: create_article(input: {code: "M1", name: "x"}) { code }
        b: create_article(input: {code: "M1", name: "x"}) { code }
        c: create_article(input: {code: "M2", name: "x"}) { code client { id } stock { id } }
    }"""
    answer = (await catalogue.send(document)).body
    assert answer["data"] == {"a": {"code": "M1"}, "b": None, "c": {"code": "M2", "client": None, "stock": []}}
    assert [error["path"] for error in answer["errors"]] == [["b"]]


async def test_the_same_mutation_twice_under_one_key_is_done_once(catalogue: Catalogue) -> None:
    """GraphQL merges equal fields."""
    document = """mutation {
        create_article(input: {code: "T1", name: "x"}) { id }
        create_article(input: {code: "T1", name: "x"}) { code }
    }"""
    found = await catalogue.ask(document)
    assert found["create_article"]["code"] == "T1"


async def test_a_repeated_document_with_a_key_does_nothing_twice(catalogue: Catalogue) -> None:
    world = catalogue.world
    document = """mutation($order: SalesOrderInput!) {
        a: create_sales_order(input: $order) { id }
        b: create_sales_order(input: $order) { id }
        delete_reception(id: 999)
        c: update_article(id: 8, input: {name: "Once"}) { name }
        d: create_article(input: {code: "T1", name: "taken"}) { id }
    }"""
    variables = {"order": {**ORDER, "lines": [{"article_id": 2, "quantity": 0.000001}]}}
    options: Json = {"headers": {"Idempotency-Key": "several"}}
    first = (await catalogue.send(document, variables, **options)).body
    assert first["data"]["a"] != first["data"]["b"]
    assert [error["path"] for error in first["errors"]] == [["delete_reception"], ["d"]]
    rows = await rows_of(world)
    assert "extensions" not in first
    again = await catalogue.send(document, variables, **options)
    assert again.body == {**first, "extensions": {"idempotent_replayed": ["a", "b", "c"]}}
    assert "Idempotent-Replayed" not in again.headers, "not all of it was"
    assert await rows_of(world) == rows


async def test_a_document_that_was_answered_as_before_says_so(catalogue: Catalogue) -> None:
    options: Json = {"headers": {"Idempotency-Key": "all-of-it"}}
    document = 'mutation { create_article(input: {code: "RE", name: "x"}) { id } again: delete_reception(id: 5) }'
    first = await catalogue.send(document, **options)
    assert "errors" not in first.body
    assert "Idempotent-Replayed" not in first.headers
    again = await catalogue.send(document, **options)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.body == {**first.body, "extensions": {"idempotent_replayed": ["create_article", "again"]}}


async def test_what_a_repeated_mutation_leads_to_is_as_it_is_now(catalogue: Catalogue) -> None:
    """A repeated mutation returns its own record in the former state."""
    world = catalogue.world
    client = (await world.send("GET", "/api/clients?per_page=1")).body["data"][0]
    document = f"""mutation {{
        update_article(id: 8, input: {{name: "Then", client_id: {client["id"]}}}) {{ name client {{ name }} }}
    }}"""
    options: Json = {"headers": {"Idempotency-Key": "leads-to"}}
    await catalogue.ask(document, **options)
    await world.send("PATCH", "/api/articles/8", {"name": "Now"})
    await world.import_csv("clients", f"code,name\n{client['code']},Renamed\n")
    found = await catalogue.ask(document, **options)
    assert found["update_article"] == {"name": "Then", "client": {"name": "Renamed"}}


async def test_a_key_with_another_document_is_refused_where_it_differs(catalogue: Catalogue) -> None:
    options: Json = {"headers": {"Idempotency-Key": "other"}}
    document = "mutation {{ a: update_article(id: 8, input: {{name: {}}}) {{ name }} }}"
    await catalogue.ask(document.format('"One"'), **options)
    (error,) = await catalogue.errors(document.format('"Two"'), **options)
    assert list(error["extensions"]["errors"]) == ["Idempotency-Key"]
    assert await catalogue.ask(document.format('"One"'), **options) == {"a": {"name": "One"}}


async def test_a_key_of_rest_is_not_one_of_graphql(catalogue: Catalogue) -> None:
    options: Json = {"headers": {"Idempotency-Key": "shared"}}
    body = {"code": "K1", "name": "x"}
    await catalogue.world.send("POST", "/api/articles", body, **options)
    document, variables = written(creates("create_article", "", {**body, "code": "K2"}))
    found = await catalogue.ask(document, variables, **options)
    assert found["create_article"]["code"] == "K2"


async def test_a_mutation_without_its_ability_changes_nothing(catalogue: Catalogue) -> None:
    token = await catalogue.world.new_token("admin@example.com", ["articles:read"])
    rows = await rows_of(catalogue.world)
    document = "mutation { delete_webhook(id: 1) update_article(id: 1, input: {}) { id } }"
    answer = (await catalogue.send(document, token=token)).body
    assert answer["data"] == {"delete_webhook": None, "update_article": None}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN", "FORBIDDEN"]
    assert await rows_of(catalogue.world) == rows


@pytest.mark.asyncio(loop_scope="function")
async def test_a_webhook_is_tried_once_for_each_mutation_whatever_is_repeated(tmp_path: Path) -> None:
    """A test request to a webhook is sent outside of the unit of work, so its idempotency key is stored in a
    different way.
    """
    authority = found_authority(tmp_path)
    allowed = {"allow_networks": ["127.0.0.1/32"], "allow_ports": ANY_PORT, "ca_file": str(authority.ca_file)}
    async with (
        Receiver(tls=authority.server_context()) as receiver,
        open_world(tmp_path / "data", {**UNLIMITED, "webhooks": allowed}) as world,
    ):
        await world.call("POST", "/api/webhooks", {**HOOK, "url": receiver.url("/200")}, status=201)
        document = """mutation {
            a: test_webhook(id: 1) { id event status attempts { number response_status response_body } }
            b: test_webhook(id: 1) { id event status attempts { number response_status response_body } }
        }"""
        options: Json = {"headers": {"Idempotency-Key": "tries"}}
        found = await Catalogue(world).ask(document, **options)
        attempt = {"number": 1, "response_status": 200, "response_body": "ok"}
        assert found["a"] == {"id": "1", "event": "webhook.test", "status": "delivered", "attempts": [attempt]}
        assert found["b"] == {**found["a"], "id": "2"}
        assert await Catalogue(world).ask(document, **options) == found
        assert [each.headers["x-webhook-event"] for each in receiver.received] == ["webhook.test"] * 2
