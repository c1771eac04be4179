"""Tests of bounded errors: callers determine the size of a body, so its reading and its errors are limited."""

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from annotated_types import MaxLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.types import FailFast

from wmsd.base.problems import LONGEST_PATH, LONGEST_SENTENCE, MOST_LISTED, Problem, invalid
from wmsd.base.strict_json import (
    MOST_CONTAINERS,
    MOST_FIELDS,
    MOST_FIELDS_OF_AN_OBJECT,
    MOST_TEXT_ERRORS,
    parse_json,
)
from wmsd.contract.operation import Operation
from wmsd.contract.validation import validate_model
from wmsd.interfaces.service import SERVED

FEW = 200
"""The members of a list. Each member may have an error."""


def numbers(text: str, count: int) -> bytes:
    return b'{"a":[' + b",".join([text.encode()] * count) + b"]}"


def test_a_hundred_errors_are_told_and_how_many_more_there_are() -> None:
    problem = invalid({f"lines.{place}": ["is wrong", "and more"] for place in range(80)})
    assert problem.message == "160 fields are not valid."
    assert sum(map(len, problem.errors.values())) == MOST_LISTED + 1
    assert problem.errors[""] == ["has at least 60 more errors, which are not listed"]


def test_as_many_as_are_told_are_told_alone() -> None:
    problem = invalid({f"lines.{place}": ["is wrong"] for place in range(MOST_LISTED)})
    assert "" not in problem.errors
    assert len(problem.errors) == MOST_LISTED


def test_a_long_name_and_a_long_sentence_are_cut() -> None:
    problem = invalid({"x" * 10_000: ["y" * 10_000]})
    ((path, (sentence,)),) = problem.errors.items()
    assert (len(path), path[-1]) == (LONGEST_PATH, "…")
    assert (len(sentence), sentence[-1]) == (LONGEST_SENTENCE, "…")


def test_the_first_errors_of_a_text_are_told_by_their_paths() -> None:
    _, text_errors = parse_json(numbers("NaN", 150))
    with pytest.raises(Problem) as raised:
        validate_model(_models()[0], {}, text_errors)
    assert list(raised.value.errors)[:2] == ["a.0", "a.1"]
    assert raised.value.errors[""] == ["has at least 50 more errors, which are not listed"]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (numbers("NaN", MOST_TEXT_ERRORS + 1), "invalid numbers and fields"),
        (numbers("1e999", MOST_TEXT_ERRORS + 1), "invalid numbers and fields"),
        (numbers("9" * 30, MOST_TEXT_ERRORS + 1), "invalid numbers and fields"),
        (numbers('{"b":1,"b":1}', MOST_TEXT_ERRORS + 1), "invalid numbers and fields"),
        (numbers("[]", MOST_CONTAINERS), "arrays and objects"),
        (numbers("{}", MOST_CONTAINERS), "arrays and objects"),
        (numbers('{"b":1}', MOST_FIELDS), "fields"),
        (numbers('{"b" : 1}', MOST_FIELDS), "fields"),
        (b"{" + b",".join(b'"%d":1' % place for place in range(MOST_FIELDS_OF_AN_OBJECT + 1)) + b"}", "fields"),
    ],
)
def test_reading_ends_where_no_honest_body_has_as_much(raw: bytes, says: str) -> None:
    with pytest.raises(Problem, match=says) as raised:
        parse_json(raw)
    assert raised.value.status == 422


def test_an_object_of_too_many_fields_is_a_flaw_at_its_path() -> None:
    crowded = b"{" + b",".join(b'"%d":1' % place for place in range(MOST_FIELDS_OF_AN_OBJECT + 1)) + b"}"
    assert parse_json(b'{"lines":[1,' + crowded + b"]}")[1] == {
        "lines.1": [f"has {MOST_FIELDS_OF_AN_OBJECT + 1} fields; {MOST_FIELDS_OF_AN_OBJECT} are allowed"]
    }


def _models() -> list[type[BaseModel]]:
    """Return the models of every body that an operation accepts, with the models inside them."""
    found: list[type[BaseModel]] = []
    waiting: list[type[BaseModel]] = [body for body in map(_body, (route.operation for route in SERVED)) if body]
    while waiting:
        model = waiting.pop()
        if model not in found:
            found.append(model)
            waiting += [part for field in model.model_fields.values() for part in _inside(field.annotation)]
    return found


def _body(operation: Operation) -> type[BaseModel] | None:
    return operation.body


def _inside(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _inside(part)


def _lists(annotation: Any, marks: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield each list type in an annotation, with its metadata."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        yield from _lists(inner, (*marks, *more))
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _lists(part, marks)
    elif get_origin(annotation) is list:
        yield annotation, marks


def _flat(marks: tuple[Any, ...]) -> Iterator[Any]:
    for mark in marks:
        yield from (mark.metadata if isinstance(mark, FieldInfo) else [mark])


def test_every_list_of_every_body_has_its_length_or_ends_at_its_first_error() -> None:
    seen = 0
    for model in _models():
        for name, field in model.model_fields.items():
            for of, marks in _lists(field.annotation, tuple(field.metadata)):
                said = list(_flat(marks))
                longest = min((mark.max_length for mark in said if isinstance(mark, MaxLen)), default=None)
                assert longest is not None, f"{model.__name__}.{name} has no length"
                is_of_models = any(_inside(of))
                ends = any(isinstance(mark, FailFast) and mark.fail_fast for mark in said)
                assert is_of_models or ends or longest <= FEW, f"{model.__name__}.{name} tells {longest} errors"
                seen += 1
    assert seen >= 10
