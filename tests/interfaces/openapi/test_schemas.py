"""Schemas from which common tools generate clients that work without a patch."""

from typing import Any

import pytest
from pydantic import create_model

from tests.interfaces.openapi.described import DOCUMENTS, inside, operations
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.contract.access import ABILITIES, EVERYTHING
from wmsd.contract.fields import Model
from wmsd.dispatch.idempotency import METHODS
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.openapi.schemas import Schemas
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.tenants.accounts.schema import SignIn

EACH = pytest.mark.parametrize("name", DOCUMENTS)


def schemas_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENTS[name]["components"]["schemas"]
    return found


@EACH
def test_names_are_plain(name: str) -> None:
    for each in schemas_of(name):
        assert each.isalnum(), each
        assert each[0].isupper(), each


@EACH
def test_nothing_is_named_by_a_title_or_sent_by_a_default(name: str) -> None:
    for schema in schemas_of(name).values():
        for each in inside(schema):
            assert not isinstance(each.get("title"), str), each
            assert "default" not in each, each


@EACH
def test_a_choice_of_values_stands_once_under_its_name(name: str) -> None:
    document = DOCUMENTS[name]
    choices = [each for each in schemas_of(name).values() if "enum" in each]
    header_values = [header["schema"] for header in document["components"]["headers"].values()]
    for each in inside(document):
        if len(each.get("enum", ())) > 1 and each not in header_values:
            assert any(each is choice for choice in choices), each


def test_every_vocabulary_is_a_choice() -> None:
    found = schemas_of("v1")
    assert found["ErrorCode"]["enum"] == list(STATUS_OF_CODE)
    assert found["Ability"]["enum"] == [EVERYTHING, *ABILITIES]
    assert found["EventChoice"]["enum"] == ["*", *EVENTS]
    assert schemas_of("v2")["EventName"]["enum"] == list(EVENTS)
    assert found["SalesOrderStatus"]["enum"] == ["CREAT", "IN_LUCRU", "INCARCAT", "LIVRAT", "ANULAT"]
    for record in ("PurchaseOrder", "Reception", "Return", "SalesOrder"):
        for model in ("", "Fields", "StatusChanged"):
            assert {"$ref": f"#/components/schemas/{record}Status"}.items() <= found[record + model]["properties"][
                "status"
            ].items()


def test_errors_and_details_of_a_problem_are_optional() -> None:
    assert schemas_of("v1")["Problem"]["required"] == ["message", "code"]


@EACH
def test_tags_operations_and_parameters_are_explained(name: str) -> None:
    assert all(tag["description"] for tag in DOCUMENTS[name]["tags"])
    for route, operation in operations(name):
        assert operation["summary"], route
        assert operation["description"], route


@EACH
def test_no_component_is_unused(name: str) -> None:
    document = DOCUMENTS[name]
    used = {each["$ref"] for each in inside(document) if "$ref" in each}
    for kind in ("schemas", "headers", "responses"):
        assert {f"#/components/{kind}/{each}" for each in document["components"][kind]} <= used


def test_two_models_of_one_name_are_no_description() -> None:
    other = create_model("SignIn", __base__=Model, x=(int, ...))
    with pytest.raises(TypeError, match="Two models have the same name"):
        Schemas([SignIn, other], [])


def test_each_event_has_its_body() -> None:
    assert list(DOCUMENTS["v1"]["webhooks"]) == list(EVENTS)
    webhooks = DOCUMENTS["v1"]["components"]["pathItems"]
    assert list(webhooks) == list(EVENTS)
    for event, webhook in webhooks.items():
        name = webhook["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert schemas_of("v1")[name]["properties"]["event"] == {"type": "string", "const": event}


def test_a_key_is_described_wherever_it_is_honoured() -> None:
    described = {
        (route.method, route.path)
        for name in ("v1", "v2")
        for route, operation in operations(name)
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation["parameters"])
    }
    assert ("POST", "/api/v2/webhooks/{id}/test") in described
    assert ("POST", "/api/v2/webhooks/{id}/deliveries/{delivery}/redeliver") in described
    assert ("POST", "/api/auth/token") not in described
    assert not {method for method, _ in described} - {"POST", "PUT", "PATCH"}
    assert {
        (route.method, route.path) for route in V1 if route.operation.body and route.operation.writes
    } <= described


@EACH
def test_an_answer_may_have_more_fields_one_day(name: str) -> None:
    """A client that validates replies still works when a later version adds fields; bodies may have only the
    declared fields.
    """
    schemas = schemas_of(name)
    answered: set[str] = set()
    waiting = [
        content["schema"]
        for _, operation in operations(name)
        for response in operation["responses"].values()
        for content in response.get("content", {}).values()
    ]
    while waiting:
        for each in inside(waiting.pop()):
            assert each.get("additionalProperties") is not False, each
            model = each.get("$ref", "").rpartition("/")[2]
            if model in schemas and model not in answered:
                answered.add(model)
                waiting.append(schemas[model])
    assert answered


def test_a_body_is_held_to_its_fields() -> None:
    for name in ("ArticleFields", "SalesOrderFields", "ReceptionFields"):
        assert schemas_of("v1")[name]["additionalProperties"] is False


@EACH
def test_every_error_may_come_as_problem_details(name: str) -> None:
    for route, operation in operations(name):
        for status, response in operation["responses"].items():
            is_error = status >= "4" and status != str(route.operation.also_shown_with)
            if is_error and "content" in response:
                assert set(response["content"]) == {"application/json", "application/problem+json"}


def test_whatever_honours_an_idempotency_key_says_so() -> None:
    for route, operation in operations("v2"):
        has_it = any(each.get("name") == "Idempotency-Key" for each in operation["parameters"])
        assert has_it is (route.method in METHODS), route.path
