"""A mutation does what its REST request does. Each is done in one of two worlds that began alike, the request in
the other: the answers are the same, and so is every row of every table.
"""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from graphql import GraphQLField, GraphQLID, GraphQLObjectType, get_named_type, is_leaf_type

from tests.interfaces.graphql.house import WEBHOOK, House, Json, open_house
from tests.support.authority import found_authority
from tests.support.receivers import Receiver
from tests.support.world import UNLIMITED, Answer, World, open_world
from wmsd.db.transaction import Transaction
from wmsd.interfaces.graphql.fields import MUTATIONS
from wmsd.interfaces.graphql.schema import Embedded, Leaf, schema, source_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
SEALED = frozenset({"credentials", "previous_secret"})
"""Columns in which no two worlds are alike."""
EVENT_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Case:
    """A mutation, and the request that says the same."""

    name: str
    method: str
    path: str
    arguments: Json = field(default_factory=dict)
    body: Any = None


def creates(name: str, path: str, body: Json) -> Case:
    return Case(name, "POST", path, {"input": body}, body)


def changes(name: str, method: str, path: str, record_id: int, body: Json) -> Case:
    return Case(name, method, path.format(record_id), {"id": record_id, "input": body}, body)


ARTICLE = {"code": "NEW", "name": "New"}
LINE = {"article_id": 1, "quantity": 1}
ORDER = {"partner_id": 1, "warehouse_id": 1, "lines": [LINE]}
PURCHASE = {"partner_id": 4, "warehouse_id": 1, "items": [LINE]}
ARRIVED = {"po_item_id": 1, "quantity_um3pl": 1}
RECEPTION = {"purchase_order_id": 5, "warehouse_id": 1, "selected_items": [{"po_item_id": 6, "quantity_um3pl": 1}]}
RETURN = {"partner_id": 1, "warehouse_id": 1, "lines": [LINE]}
HOOK = {**WEBHOOK, "name": "New", "events": ["*"]}
ARTICLES, ORDERS, PURCHASES = "/api/articles/{}", "/api/sales-orders/{}", "/api/purchase-orders/{}"
RECEPTIONS, RETURNS, WEBHOOKS = "/api/receptions/{}", "/api/returns/{}", "/api/v2/webhooks/{}"
STATUS = "/api/v2/sales-orders/{}/status"

CASES = {
    # articles
    "an article": creates("create_article", "/api/articles", ARTICLE),
    "an article whose code is taken": creates("create_article", "/api/articles", ARTICLE),
    "an article with all that is wrong": creates(
        "create_article",
        "/api/articles",
        {
            "code": "x" * 65,
            "name": "",
            "min_stock": -1,
            "client_id": 99,
            "barcodes": ["1", "1"],
            "um3pl_factor": 0,
        },
    ),
    "an article with exact numbers": creates(
        "create_article",
        "/api/articles",
        {**ARTICLE, "code": "NUM", "weight_kg": 0.000001, "length_mm": 999999999.999999, "min_stock": 0},
    ),
    "an article beyond exact numbers": creates(
        "create_article", "/api/articles", {**ARTICLE, "weight_kg": 0.0000001, "length_mm": 1000000000}
    ),
    "an article replaced": changes("replace_article", "PUT", ARTICLES, 2, {"code": "B", "name": "Beta again"}),
    "an article changed": changes("update_article", "PATCH", ARTICLES, 1, {"name": "Changed", "barcode": None}),
    "an article changed in nothing": changes("update_article", "PATCH", ARTICLES, 1, {}),
    "an article that is not there": changes("update_article", "PATCH", ARTICLES, 99, {"name": "x"}),
    "an article by its code": Case(
        "update_article_by_code",
        "PATCH",
        "/api/articles/by-code/LOT",
        {"code": "LOT", "input": {"external_ref": "77"}},
        {"external_ref": "77"},
    ),
    "an article by a code that is not there": Case(
        "update_article_by_code",
        "PATCH",
        "/api/articles/by-code/none",
        {"code": "none", "input": {"name": "x"}},
        {"name": "x"},
    ),
    # sales orders
    "an order": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "external_ref": "NEW", "client_id": 1}
    ),
    "an order by codes": creates(
        "create_sales_order",
        "/api/sales-orders",
        {**ORDER, "lines": [{"article_code": "B", "quantity": 0.000001}]},
    ),
    "an order of more than there is": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "lines": [{**LINE, "quantity": 100000}]}
    ),
    "an order of a partner who is gone": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "partner_id": 3}
    ),
    "an order to a warehouse that is shut": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "warehouse_id": 3}
    ),
    "an order of an article that is not sold": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "lines": [{"article_id": 3, "quantity": 1}]}
    ),
    "an order with all that is wrong": creates(
        "create_sales_order",
        "/api/sales-orders",
        {
            **ORDER,
            "notes": " x",
            "requested_date": "tomorrow",
            "lines": [{"quantity": 0}, {**LINE, "article_id": 98}],
        },
    ),
    "an order without lines": creates("create_sales_order", "/api/sales-orders", {**ORDER, "lines": []}),
    "an order replaced": changes("replace_sales_order", "PUT", ORDERS, 1, {**ORDER, "notes": "Replaced"}),
    "an order changed": changes(
        "update_sales_order", "PATCH", ORDERS, 1, {"notes": "Changed", "external_ref": None}
    ),
    "lines changed": changes("update_sales_order", "PATCH", ORDERS, 1, {"lines": [LINE, {**LINE, "quantity": 2}]}),
    "an order moved": changes("change_sales_order_status", "PATCH", STATUS, 1, {"status": "IN_LUCRU"}),
    "an order moved with packaging": changes(
        "change_sales_order_status",
        "PATCH",
        STATUS,
        1,
        {"status": "INCARCAT", "packaging": [{"packaging_type_code": "PAL", "quantity": 2}]},
    ),
    "an order moved to where it cannot go": changes(
        "change_sales_order_status", "PATCH", STATUS, 5, {"status": "LIVRAT"}
    ),
    "an order cancelled": changes("update_sales_order", "PATCH", ORDERS, 2, {"status": "ANULAT"}),
    # purchase orders
    "a purchase": creates(
        "create_purchase_order", "/api/purchase-orders", {**PURCHASE, "expected_date": "2027-01-31"}
    ),
    "a purchase of nothing": creates("create_purchase_order", "/api/purchase-orders", {**PURCHASE, "items": []}),
    "a purchase replaced": changes(
        "replace_purchase_order", "PUT", PURCHASES, 6, {**PURCHASE, "notes": "Replaced"}
    ),
    "a purchase changed": changes("update_purchase_order", "PATCH", PURCHASES, 6, {"notes": None, "code": "P-X"}),
    "a purchase deleted": Case("delete_purchase_order", "DELETE", "/api/purchase-orders/7", {"id": 7}),
    "a purchase deleted again": Case("delete_purchase_order", "DELETE", "/api/purchase-orders/7", {"id": 7}),
    "a purchase that came, deleted": Case("delete_purchase_order", "DELETE", "/api/purchase-orders/1", {"id": 1}),
    # receptions
    "a reception": creates("create_reception", "/api/receptions", {**RECEPTION, "transport_ecc": "T9"}),
    "a reception of too much": creates(
        "create_reception",
        "/api/receptions",
        {**RECEPTION, "status": "FINALIZAT", "selected_items": [{"po_item_id": 6, "quantity_um3pl": 1000}]},
    ),
    "a reception of another order's item": creates(
        "create_reception", "/api/receptions", {**RECEPTION, "selected_items": [ARRIVED]}
    ),
    "a reception replaced": changes("replace_reception", "PUT", RECEPTIONS, 6, {**RECEPTION, "notes": "Replaced"}),
    "a reception changed": changes("update_reception", "PATCH", RECEPTIONS, 6, {"notes": "Changed"}),
    "a reception posted": changes("update_reception", "PATCH", RECEPTIONS, 6, {"status": "FINALIZAT"}),
    "a reception deleted": Case("delete_reception", "DELETE", "/api/receptions/5", {"id": 5}),
    "a posted reception deleted": Case("delete_reception", "DELETE", "/api/receptions/6", {"id": 6}),
    # returns
    "a return": creates("create_return", "/api/returns", {**RETURN, "reason": "broken"}),
    "a return of more than was sent": creates(
        "create_return", "/api/returns", {**RETURN, "sales_order_id": 4, "lines": [{**LINE, "quantity": 500}]}
    ),
    "a return replaced": changes("replace_return", "PUT", RETURNS, 4, {**RETURN, "notes": "Replaced"}),
    "a return that arrived": changes("update_return", "PATCH", RETURNS, 4, {"status": "RECEPTIONAT"}),
    "a return without dispositions": changes("update_return", "PATCH", RETURNS, 4, {"status": "FINALIZAT"}),
    # webhooks
    "a subscription": creates("create_webhook", "/api/v2/webhooks", HOOK),
    "a subscription to nothing": creates("create_webhook", "/api/v2/webhooks", {**HOOK, "events": ["nothing"]}),
    "a subscription to itself": creates(
        "create_webhook", "/api/v2/webhooks", {**HOOK, "url": "https://127.0.0.1/"}
    ),
    "a subscription with headers": creates(
        "create_webhook",
        "/api/v2/webhooks",
        {"name": "H", "url": WEBHOOK["url"], "events": ["*"], "auth_type": "custom", "headers": {"X-Key": "a"}},
    ),
    "a subscription with headers that cannot be": creates(
        "create_webhook",
        "/api/v2/webhooks",
        {"name": "H", "url": WEBHOOK["url"], "events": ["*"], "auth_type": "custom", "headers": {"X-Key": [1]}},
    ),
    "a subscription replaced": changes(
        "replace_webhook", "PUT", "/api/webhooks/{}", 2, {**HOOK, "name": "Replaced"}
    ),
    "a subscription changed": changes("update_webhook", "PATCH", WEBHOOKS, 2, {"active": False}),
    "a secret": changes(
        "rotate_webhook_secret", "POST", "/api/v2/webhooks/{}/rotate-secret", 1, {"secret": "n" * 32}
    ),
    "a short secret": changes(
        "rotate_webhook_secret", "POST", "/api/v2/webhooks/{}/rotate-secret", 1, {"secret": "n"}
    ),
    "a delivery again": Case(
        "redeliver_webhook", "POST", "/api/v2/webhooks/1/deliveries/1/redeliver", {"id": 1, "delivery": 1}
    ),
    "a delivery that is not there": Case(
        "redeliver_webhook", "POST", "/api/v2/webhooks/1/deliveries/9999/redeliver", {"id": 1, "delivery": 9999}
    ),
    "a subscription deleted": Case("delete_webhook", "DELETE", "/api/v2/webhooks/2", {"id": 2}),
    "a test of no subscription": Case("test_webhook", "POST", "/api/v2/webhooks/99/test", {"id": 99}),
}


REFUSED = {
    "an article whose code is taken": 422,
    "an article with all that is wrong": 422,
    "an article beyond exact numbers": 422,
    "an article that is not there": 404,
    "an article by a code that is not there": 404,
    "an order of more than there is": 422,
    "an order of a partner who is gone": 422,
    "an order to a warehouse that is shut": 422,
    "an order of an article that is not sold": 422,
    "an order with all that is wrong": 422,
    "an order without lines": 422,
    "an order moved to where it cannot go": 409,
    "a purchase of nothing": 422,
    "a purchase deleted again": 404,
    "a purchase that came, deleted": 409,
    "a reception of too much": 422,
    "a reception of another order's item": 422,
    "a posted reception deleted": 409,
    "a return of more than was sent": 422,
    "a return without dispositions": 422,
    "a subscription to nothing": 422,
    "a subscription to itself": 422,
    "a subscription with headers that cannot be": 422,
    "a short secret": 422,
    "a delivery that is not there": 404,
    "a test of no subscription": 404,
}
"""The status of REST; the others are done."""


@dataclass
class Pair:
    """`mine` is asked by GraphQL, `other` by REST."""

    mine: House
    other: World

    async def do(self, case: Case, **options: Any) -> tuple[Any, list[Json], Answer]:
        """The value of the mutation, its errors, and the answer of REST. Both worlds are alike afterwards."""
        document, variables = written(case)
        answer = (await self.mine.send(document, variables, **options)).body
        told = await self.other.send(case.method, case.path, case.body, **options)
        assert "data" in answer, answer
        await self.are_alike()
        return answer["data"][case.name], answer.get("errors", []), told

    async def are_alike(self) -> None:
        mine, others = [await rows_of(world) for world in (self.mine.world, self.other)]
        for table, rows in mine.items():
            assert rows == others[table], table


async def rows_of(world: World) -> dict[str, list[Any]]:
    """Of every table, without what is drawn by chance."""

    def read(tx: Transaction) -> dict[str, list[Any]]:
        tables = tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'idempotency_keys'")
        return {name: [_plain(row) for row in tx.records(f"SELECT * FROM {name}")] for (name,) in tables}

    return await (await world.database()).read(read)


def _plain(row: Json) -> Json:
    return {
        name: EVENT_ID.sub("an id", value) if isinstance(value, str) else value
        for name, value in row.items()
        if name not in SEALED
    }


def written(case: Case, key: str | None = None) -> tuple[str, Json]:
    """A document that shows all of the record, and its variables."""
    declared = mutation_fields()[case.name]
    names = {name: f"{key or ''}{name}" for name in case.arguments}
    head = ", ".join(f"${names[name]}: {declared.args[name].type}" for name in names)
    given = ", ".join(f"{name}: ${names[name]}" for name in names)
    alias = f"{key}: " if key else ""
    shown = selection(declared)
    return f"mutation({head}) {{ {alias}{case.name}({given}){shown} }}", {
        names[name]: value for name, value in case.arguments.items()
    }


def mutation_fields() -> dict[str, GraphQLField]:
    root = schema().mutation_type
    assert root is not None
    fields: dict[str, GraphQLField] = root.fields
    return fields


def selection(declared: GraphQLField) -> str:
    """All that the record itself has."""
    of = get_named_type(declared.type)
    if not isinstance(of, GraphQLObjectType):
        return ""
    own = [name for name, each in of.fields.items() if isinstance(source_of(each), Leaf | Embedded)]
    return f" {{ {' '.join(name + selection(of.fields[name]) for name in own)} }}"


def as_graphql(declared: GraphQLField, value: Any) -> Any:
    """What REST shows, with ids as texts."""
    of = get_named_type(declared.type)
    if isinstance(value, list):
        return [as_graphql(declared, each) for each in value]
    if value is None or is_leaf_type(of):
        return str(value) if of is GraphQLID and value is not None else value
    assert isinstance(of, GraphQLObjectType)
    return {name: as_graphql(of.fields[name], each) for name, each in value.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    """Whatever a test does to one it does to the other."""
    async with (
        open_world(tmp_path_factory.mktemp("mine") / "data", UNLIMITED) as mine,
        open_world(tmp_path_factory.mktemp("other") / "data", UNLIMITED) as other,
    ):
        made = Pair(await open_house(mine), (await open_house(other)).world)
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
    """Without the ids of events."""
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
async def test_what_is_no_id_is_named(house: House, wrong: str) -> None:
    body = {**ORDER, "partner_id": wrong}
    document, variables = written(Case("create_sales_order", "", "", {"input": body}))
    (error,) = await house.errors(document, variables)
    assert list(error["extensions"]["errors"]) == ["partner_id"]


@pytest.mark.parametrize(
    "number", ["0.000001", "999999999.999999", "0.1", "1e-6", "12345678.900000", "100", "0.3"]
)
async def test_decimals_are_exact_as_literals_and_as_variables(house: House, number: str) -> None:
    document = f"mutation {{ update_article(id: 4, input: {{weight_kg: {number}}}) {{ weight_kg }} }}"
    raw = json.dumps({"query": document}).encode()
    by_variable = "mutation($w: Decimal) { update_article(id: 4, input: {weight_kg: $w}) { weight_kg } }"
    for content in (raw, f'{{"query": {json.dumps(by_variable)}, "variables": {{"w": {number}}}}}'.encode()):
        answer = await house.world.send("POST", "/api/graphql", raw=content)
        assert answer.body["data"]["update_article"]["weight_kg"] == float(number)
        stored = await house.world.rows("SELECT weight_kg FROM articles WHERE id = 4")
        assert stored == [(round(float(number) * 1_000_000),)]
        await house.ask("mutation { update_article(id: 4, input: {weight_kg: null}) { id } }")


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
async def test_numbers_that_cannot_be_are_refused(house: House, number: str, says: str) -> None:
    document = f"mutation {{ update_article(id: 5, input: {{weight_kg: {number}}}) {{ id }} }}"
    assert says in json.dumps(await house.errors(document))
    by_variable = "mutation($w: Decimal) { update_article(id: 5, input: {weight_kg: $w}) { id } }"
    assert says in json.dumps(await house.errors(by_variable, {"w": json.loads(number)}))


async def test_null_empties_a_field_and_what_is_absent_stays(house: House) -> None:
    world = house.world
    fields = "barcode description external_ref name"
    await world.send("PATCH", "/api/articles/6", {"barcode": "9", "description": "d", "external_ref": "e"})
    document = f"""mutation($input: ArticleChangesInput!, $given: String, $not_given: String) {{
        a: update_article(id: 6, input: $input) {{ {fields} }}
        b: update_article(id: 6, input: {{description: $given, external_ref: $not_given}}) {{ {fields} }}
    }}"""
    found = await house.ask(document, {"input": {"barcode": None}, "given": None})
    assert found["a"] == {"barcode": None, "description": "d", "external_ref": "e", "name": "By the box"}
    assert found["b"] == {"barcode": None, "description": None, "external_ref": "e", "name": "By the box"}


async def test_null_where_none_may_be_is_refused_as_by_rest(house: House) -> None:
    document = "mutation { update_article(id: 6, input: {name: null, unit: null}) { id } }"
    (error,) = await house.errors(document)
    told = await house.world.send("PATCH", "/api/articles/6", {"name": None, "unit": None})
    assert error["extensions"]["errors"] == told.errors
    assert set(told.errors) == {"name", "unit"}


# --- several mutations -----------------------------------------------------------------------------------------


async def test_mutations_are_done_in_their_order(house: House) -> None:
    world = house.world
    before = await world.last_event()
    document = " ".join(
        f'm{number}: update_article(id: 7, input: {{name: "Name {number}"}}) {{ name }}' for number in range(20)
    )
    found = await house.ask(f"mutation {{ {document} }}")
    assert list(found) == [f"m{number}" for number in range(20)]
    assert [each["name"] for each in found.values()] == [f"Name {number}" for number in range(20)]
    told = [data["name"] for _, data in await world.events_after(before)]
    assert told == [f"Name {number}" for number in range(20)]


async def test_one_that_is_refused_does_not_stop_the_others(house: House) -> None:
    document = """mutation {
        a: create_article(input: {code: "M1", name: "x"}) { code }
        b: create_article(input: {code: "M1", name: "x"}) { code }
        c: create_article(input: {code: "M2", name: "x"}) { code client { id } stock { id } }
    }"""
    answer = (await house.send(document)).body
    assert answer["data"] == {"a": {"code": "M1"}, "b": None, "c": {"code": "M2", "client": None, "stock": []}}
    assert [error["path"] for error in answer["errors"]] == [["b"]]


async def test_the_same_mutation_twice_under_one_key_is_done_once(house: House) -> None:
    """GraphQL merges fields that are the same."""
    document = """mutation {
        create_article(input: {code: "T1", name: "x"}) { id }
        create_article(input: {code: "T1", name: "x"}) { code }
    }"""
    found = await house.ask(document)
    assert found["create_article"]["code"] == "T1"


async def test_a_repeated_document_with_a_key_does_nothing_twice(house: House) -> None:
    world = house.world
    document = """mutation($order: SalesOrderInput!) {
        a: create_sales_order(input: $order) { id }
        b: create_sales_order(input: $order) { id }
        delete_reception(id: 999)
        c: update_article(id: 8, input: {name: "Once"}) { name }
        d: create_article(input: {code: "T1", name: "taken"}) { id }
    }"""
    variables = {"order": {**ORDER, "lines": [{"article_id": 2, "quantity": 0.000001}]}}
    options: Json = {"headers": {"Idempotency-Key": "several"}}
    first = (await house.send(document, variables, **options)).body
    assert first["data"]["a"] != first["data"]["b"]
    assert [error["path"] for error in first["errors"]] == [["delete_reception"], ["d"]]
    rows = await rows_of(world)
    again = (await house.send(document, variables, **options)).body
    assert again == first
    assert await rows_of(world) == rows


async def test_a_key_with_another_document_is_refused_where_it_differs(house: House) -> None:
    options: Json = {"headers": {"Idempotency-Key": "other"}}
    document = "mutation {{ a: update_article(id: 8, input: {{name: {}}}) {{ name }} }}"
    await house.ask(document.format('"One"'), **options)
    (error,) = await house.errors(document.format('"Two"'), **options)
    assert list(error["extensions"]["errors"]) == ["Idempotency-Key"]
    assert await house.ask(document.format('"One"'), **options) == {"a": {"name": "One"}}


async def test_a_key_of_rest_is_not_one_of_graphql(house: House) -> None:
    options: Json = {"headers": {"Idempotency-Key": "shared"}}
    body = {"code": "K1", "name": "x"}
    await house.world.send("POST", "/api/articles", body, **options)
    document, variables = written(creates("create_article", "", {**body, "code": "K2"}))
    found = await house.ask(document, variables, **options)
    assert found["create_article"]["code"] == "K2"


async def test_a_mutation_without_its_ability_changes_nothing(house: House) -> None:
    token = await house.world.new_token("admin@example.com", ["articles:read"])
    rows = await rows_of(house.world)
    document = "mutation { delete_webhook(id: 1) update_article(id: 1, input: {}) { id } }"
    answer = (await house.send(document, token=token)).body
    assert answer["data"] == {"delete_webhook": None, "update_article": None}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN", "FORBIDDEN"]
    assert await rows_of(house.world) == rows


@pytest.mark.asyncio(loop_scope="function")
async def test_a_webhook_is_tried_once_for_each_mutation_whatever_is_repeated(tmp_path: Path) -> None:
    """It is sent outside the unit of work, so its key is kept in a way of its own."""
    authority = found_authority(tmp_path)
    allowed = {"allow_networks": ["127.0.0.1/32"], "ca_file": str(authority.ca_file)}
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
        found = await House(world).ask(document, **options)
        attempt = {"number": 1, "response_status": 200, "response_body": "ok"}
        assert found["a"] == {"id": "1", "event": "webhook.test", "status": "delivered", "attempts": [attempt]}
        assert found["b"] == {**found["a"], "id": "2"}
        assert await House(world).ask(document, **options) == found
        assert [each.headers["x-webhook-event"] for each in receiver.received] == ["webhook.test"] * 2
