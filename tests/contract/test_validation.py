"""Tests of the way from a model's errors to the caller's: every error in one answer, by its path."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from wmsd.base.problems import MOST_LISTED, FieldErrors, Problem
from wmsd.contract import validation
from wmsd.contract.fields import Input, Name, Quantity
from wmsd.contract.validation import validate_model


class Line(Input):
    quantity: Quantity
    serials: list[str] = []


class Order(Input):
    code: Annotated[str, Field(min_length=2, max_length=3)] = "AB"
    kind: Literal["IN", "OUT"] = "IN"
    count: int = 1
    few: Annotated[int, Field(gt=1, le=9)] = 2
    many: Annotated[int, Field(ge=1)] = 2
    open: bool = True
    lines: Annotated[list[Line], Field(min_length=1, max_length=2)] = [Line(quantity=1)]
    names: Annotated[list[Name], Field(min_length=2)] = ["A", "B"]


def errors_of(values: dict[str, object], text_errors: FieldErrors | None = None) -> FieldErrors:
    with pytest.raises(Problem) as refused:
        validate_model(Order, values, text_errors)
    assert refused.value.code == "VALIDATION_FAILED"
    return refused.value.errors


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({"code": 1}, {"code": ["must be a string"]}),
        ({"code": "A"}, {"code": ["must have at least 2 characters"]}),
        ({"code": "ABCD"}, {"code": ["must have at most 3 characters"]}),
        ({"code": "\ud800"}, {"code": ["must be Unicode text"]}),
        ({"kind": "X"}, {"kind": ["must be 'IN' or 'OUT'"]}),
        ({"count": "1"}, {"count": ["must be a whole number"]}),
        ({"count": 1.5}, {"count": ["must be a whole number"]}),
        ({"few": 1}, {"few": ["must be greater than 1"]}),
        ({"few": 10}, {"few": ["must be at most 9"]}),
        ({"many": 0}, {"many": ["must be at least 1"]}),
        ({"open": 1}, {"open": ["must be true or false"]}),
        ({"lines": {}}, {"lines": ["must be an array"]}),
        ({"lines": []}, {"lines": ["must have at least 1 item"]}),
        ({"names": ["A"]}, {"names": ["must have at least 2 items"]}),
        ({"lines": [1]}, {"lines.0": ["must be an object"]}),
        ({"lines": [{}]}, {"lines.0.quantity": ["is required"]}),
        ({"lines": [{"quantity": 0}]}, {"lines.0.quantity": ["must be greater than 0"]}),
        ({"unknown": 1}, {"unknown": ["is an unknown field"]}),
        (
            {"code": 1, "lines": [{"quantity": 1}, {"quantity": "1", "x": 1}]},
            {
                "code": ["must be a string"],
                "lines.1.quantity": ["must be a number"],
                "lines.1.x": ["is an unknown field"],
            },
        ),
    ],
)
def test_every_error_has_its_path_and_its_sentence(values: dict[str, object], errors: FieldErrors) -> None:
    assert errors_of(values) == errors


def test_what_is_right_is_made() -> None:
    assert validate_model(Order, {"code": "ABC", "lines": [{"quantity": 2}]}).lines[0].quantity == 2_000_000
    assert validate_model(Order, {}, {}).code == "AB"


def test_errors_in_the_text_stand_instead_of_what_follows_from_them() -> None:
    text_errors = {"lines.0": ["is given twice"]}
    assert errors_of({}, text_errors) == text_errors
    wrong: dict[str, object] = {"lines": [{"quantity": 0}, {"quantity": 0}], "code": 1}
    assert errors_of(wrong, text_errors) == {
        "lines.0": ["is given twice"],
        "lines.1.quantity": ["must be greater than 0"],
        "code": ["must be a string"],
    }
    assert errors_of({"lines": [1, {"quantity": 1}]}, text_errors) == text_errors
    assert text_errors == {"lines.0": ["is given twice"]}, "they are the caller's own"
    assert errors_of({"code": 1}, {"co": ["is wrong"]}) == {"co": ["is wrong"], "code": ["must be a string"]}


def test_beside_as_many_errors_as_are_told_nothing_else_is_looked_for() -> None:
    text_errors = {"a": ["is b"], "c": ["is d"] * (MOST_LISTED - 1)}
    assert errors_of({"code": 1}, text_errors) == text_errors
    text_errors["c"].pop()
    assert errors_of({"code": 1}, text_errors) == {**text_errors, "code": ["must be a string"]}


def test_a_length_is_told_in_its_unit() -> None:
    """An error names the length in its unit.

    The sentences are created when the module is imported, so the test creates them again.
    """
    least = validation._length("item", "least", "min_length")
    assert [least({"min_length": count}) for count in (0, 1, 2)] == [
        "must have at least 0 items",
        "must have at least 1 item",
        "must have at least 2 items",
    ]
    assert validation._length("character", "most", "max_length")({"max_length": 3}).endswith(
        "at most 3 characters"
    )


def test_what_has_no_sentence_of_ours_has_pydantics() -> None:
    class Other(Input):
        data: bytes

    with pytest.raises(Problem) as refused:
        validate_model(Other, {"data": 1})
    assert refused.value.errors == {"data": ["Input should be a valid bytes"]}
