"""Examples of bodies are accepted, and examples of replies have the form of their schema."""

from collections.abc import Iterable
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from tests.interfaces.openapi.described import DOCUMENTS, contents, inside, operations
from wmsd.contract.validation import validate_model
from wmsd.interfaces.openapi.example_values import FIELDS, OF_MODEL, SENT

EACH = pytest.mark.parametrize("name", DOCUMENTS)


@EACH
def test_every_body_and_every_answer_has_an_example_of_its_form(name: str) -> None:
    for place, content in contents(name):
        schema = {**content["schema"], "components": DOCUMENTS[name]["components"]}
        assert not _errors(schema, content["example"]), place


def _errors(schema: dict[str, Any], example: object) -> list[str]:
    found = Draft202012Validator(schema, validate_formats=True).iter_errors(example)
    return [f"{error.instance_path}: {error.message}" for error in found]


@EACH
def test_every_body_is_accepted(name: str) -> None:
    for route, operation in operations(name):
        if route.operation.body is not None:
            validate_model(
                route.operation.body, operation["requestBody"]["content"]["application/json"]["example"]
            )


@EACH
def test_nothing_of_an_answer_is_made_up_from_its_type(name: str) -> None:
    """The value `text` is the placeholder for a text that the tables do not have."""
    for place, content in contents(name):
        assert '"text"' not in str(content["example"]).replace("'", '"'), place


def test_no_value_of_the_tables_is_of_no_use() -> None:
    fields = {name for each in DOCUMENTS.values() for schema in inside(each) for name in _fields(schema)}
    assert not set(FIELDS) - fields
    schemas: dict[str, Any] = {}
    for document in DOCUMENTS.values():
        schemas |= document["components"]["schemas"]
    for table in (OF_MODEL, SENT):
        for model, named in table.items():
            members = {
                field for name, schema in schemas.items() if name.startswith(model) for field in _fields(schema)
            }
            assert not set(named) - members, model


def _fields(schema: Any) -> Iterable[str]:
    found = schema.get("properties", ())
    return found if isinstance(found, dict) else ()
