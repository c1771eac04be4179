"""Tests of the query parameters that lists share: their texts, and the values read from them."""

from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from wmsd.base import timestamps
from wmsd.base.problems import Problem
from wmsd.contract import list_queries
from wmsd.contract.list_queries import (
    MOST_IDS,
    CursorQuery,
    IdsQuery,
    Moment,
    NoQuery,
    PageQuery,
    Query,
    QueryFlag,
    several_of,
)
from wmsd.contract.validation import field_errors, validate_model


def taken(kind: Any, value: object) -> object:
    """Return the value that is read, or the sentence that refuses the value."""
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        (sentences,) = field_errors(error).values()
        (sentence,) = sentences
        return f"refused: {sentence}"


NO_NUMBER, OUTSIDE = "refused: must be a whole number", "refused: must be from 2 to 20"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2),
        ("20", 20),
        ("007", 7),
        (500, 500),  # a number that the program itself passes, such as a default
        *((value, OUTSIDE) for value in ("0", "1", "21", "9" * 15)),
        *((value, NO_NUMBER) for value in ("9" * 16, "", "-2", "+2", " 2", "2.0", "\u0665", "x", None, 2.0)),
    ],
)
def test_a_whole_number_within_its_bounds(value: object, expected: object) -> None:
    assert taken(Annotated[int, list_queries._whole_number(2, 20)], value) == expected


def test_its_bounds_are_in_its_description() -> None:
    described = TypeAdapter(Annotated[int, list_queries._number_schema(2, 20)]).json_schema()
    assert described == {"type": "integer", "minimum": 2, "maximum": 20}


NOON = timestamps.microseconds(datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC))


@pytest.mark.parametrize(
    ("value", "moment", "text"),
    [
        ("2026-11-20T12:00:00.123456Z", NOON, "2026-11-20T12:00:00.123Z"),
        ("2026-11-20T14:00:00.123456+02:00", NOON, "2026-11-20T12:00:00.123Z"),
        ("2026-11-20T14:00:00.123456 02:00", NOON, "2026-11-20T12:00:00.123Z"),
        ("2026-11-20T12:00:00", *["refused: must have an offset from UTC, such as Z or +02:00"] * 2),
        ("yesterday", *["refused: must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z"] * 2),
    ],
)
def test_a_moment_and_a_timestamp(value: str, moment: object, text: object) -> None:
    assert (taken(Moment, value), taken(list_queries.QueryTimestamp, value)) == (moment, text)


def test_a_moment_that_is_known_is_kept() -> None:
    assert taken(Moment, NOON) == NOON


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, True) for value in ("true", "1", True)),
        *((value, False) for value in ("false", "0", False)),
        *((value, "refused: must be true or false") for value in ("", "TRUE", "False", "yes", "2", None)),
    ],
)
def test_a_flag(value: object, expected: object) -> None:
    assert taken(QueryFlag, value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", ("a",)),
        ("c,a", ("a", "c")),
        (" b , a ,b", ("a", "b")),
        (["c", "b"], ("b", "c")),
        *((value, "refused: must be one or more of a, b, c") for value in ("", " ", ",")),
        ([], "refused: must be one or more of a, b, c"),
        ("a,", "refused: cannot be '', only a, b, c"),
        ("a,z,y", "refused: cannot be 'y', only a, b, c"),
        ("A", "refused: cannot be 'A', only a, b, c"),
        ("x" * 61, f"refused: cannot be '{'x' * 60}…', only a, b, c"),
    ],
)
def test_several_of_a_choice_in_its_own_order(value: object, expected: object) -> None:
    assert taken(Annotated[tuple[str, ...], several_of(["a", "b", "c"])], value) == expected


class Articles(PageQuery):
    code: str | None = None
    active: QueryFlag | None = None
    fields: str | None = None
    detail: str | None = None


class Walk(CursorQuery):
    code: str | None = None


def errors_of(model: type[Query], values: dict[str, object]) -> dict[str, list[str]]:
    with pytest.raises(Problem) as refused:
        validate_model(model, values)
    return refused.value.errors


def test_filters_are_what_was_given_and_says_which_records() -> None:
    query = validate_model(
        Articles, {"page": "2", "per_page": "9", "fields": "id", "detail": "x", "active": "false", "code": "A"}
    )
    assert query.filters() == {"active": False, "code": "A"}
    assert validate_model(Articles, {"code": None}).filters() == {}
    assert validate_model(Articles, {}).filters() == {}
    assert validate_model(Walk, {"cursor": "x", "per_page": "1", "code": "B"}).filters() == {"code": "B"}
    assert not query.is_search


def test_a_page_begins_after_those_before_it() -> None:
    for page, per_page, offset in (("1", "50", 0), ("2", "50", 50), ("4", "7", 21)):
        assert validate_model(PageQuery, {"page": page, "per_page": per_page}).offset == offset
    assert validate_model(PageQuery, {}).model_dump() == {"page": 1, "per_page": 50, "sort": "id"}
    assert errors_of(PageQuery, {"page": "0", "per_page": "201"}) == {
        "page": ["must be from 1 to 1000000000"],
        "per_page": ["must be from 1 to 200"],
    }


def test_a_walk_by_cursors() -> None:
    assert validate_model(CursorQuery, {}).model_dump() == {"cursor": None, "per_page": 100}
    assert errors_of(CursorQuery, {"cursor": "x" * 201, "per_page": "501"}) == {
        "cursor": ["must have at most 200 characters"],
        "per_page": ["must be from 1 to 500"],
    }


def test_what_a_list_does_not_know_is_refused_by_name() -> None:
    assert errors_of(NoQuery, {"x": "1"}) == {"x": ["is an unknown field"]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", (7,)),
        ("3,1,2,1", (3, 1, 2, 1)),
        ([3, 1], (3, 1)),
        (",".join(["1"] * MOST_IDS), (1,) * MOST_IDS),
        *((value, None) for value in ("", ",", "1,", "1, 2", "x", "-1", "1.0", [], ["x"])),
        (",".join(["1"] * (MOST_IDS + 1)), None),
    ],
)
def test_ids_by_commas(value: object, expected: tuple[int, ...] | None) -> None:
    if expected is None:
        assert errors_of(IdsQuery, {"ids": value}) == {"ids": ["must be 1 to 1000 ids, separated by commas"]}
    else:
        assert validate_model(IdsQuery, {"ids": value}).ids == expected
