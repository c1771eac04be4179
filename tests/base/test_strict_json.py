"""Tests of what JSON from strangers may not contain, and of the path that the error names."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.problems import Problem
from wmsd.base.strict_json import (
    MAX_INTEGER_DIGITS,
    MAX_NUMBER_LENGTH,
    MOST_CONTAINERS,
    MOST_FIELDS_OF_AN_OBJECT,
    MOST_TEXT_ERRORS,
    canonical,
    dumps,
    fields_in,
    parse_json,
    printable,
)

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=5), plain, max_size=5))
def test_ordinary_documents_pass_unchanged(document: dict[str, Any]) -> None:
    assert parse_json(json.dumps(document).encode()) == (document, {})


class Pair(NamedTuple):
    first: int
    second: str


@given(plain | st.text(st.characters()) | st.integers() | st.builds(Pair, st.integers(), st.text()))
def test_a_value_is_written_as_by_the_standard_library(value: object) -> None:
    assert dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("value", [Decimal("1.5"), datetime.now(UTC), {1, 2}, b"x"])
def test_a_value_without_a_form_in_json_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dumps(value)


def test_one_byte_order_mark_at_the_beginning_is_ignored() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a":"\xef\xbb\xbf"}') == ({"a": "\ufeff"}, {})
    for raw in (b"\xef\xbb\xbf\xef\xbb\xbf{}", b" \xef\xbb\xbf{}", b"\xef\xbb\xbf", b"\xef\xbb{}"):
        with pytest.raises(Problem):
            parse_json(raw)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_refusal(raw: bytes) -> None:
    try:
        document, _ = parse_json(raw)
    except Problem as problem:
        assert problem.status in (400, 422)
    else:
        assert isinstance(document, dict)


@pytest.mark.parametrize(
    ("raw", "errors"),
    [
        (b'{"a": 1, "a": 2}', {"a": ["is given twice"]}),
        (b'{"a": [{"b": 1, "b": 1}]}', {"a.0.b": ["is given twice"]}),
        (
            b'{"a": NaN, "b": -Infinity}',
            {"a": ["must be a number, not NaN"], "b": ["must be a number, not -Infinity"]},
        ),
        (b'{"a": 1e999999}', {"a": ["is outside the allowed range"]}),
        (b'{"a": 12345678901234567890}', {"a": ["is outside the allowed range"]}),
        (b'{"a": 1.' + b"0" * 100 + b"}", {"a": ["has too many digits"]}),
        (
            b'{"a": "\\ud800"}',
            {"a": ["contains a broken character (half of a surrogate pair): delete it and type it again"]},
        ),
    ],
)
def test_errors_are_named_by_their_path(raw: bytes, errors: dict[str, list[str]]) -> None:
    assert parse_json(raw)[1] == errors


def test_nesting_over_32_levels_is_a_flaw() -> None:
    def nested(levels: int) -> bytes:
        return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"

    assert parse_json(nested(32))[1] == {}
    assert len(parse_json(nested(33))[1]) == 1
    with pytest.raises(Problem, match="levels of nesting") as raised:
        parse_json(nested(90_000))
    assert raised.value.status == 422


def test_a_long_integer_costs_no_time() -> None:
    assert parse_json(b'{"a": ' + b"9" * 500_000 + b"}")[1] == {"a": ["is outside the allowed range"]}


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"1", b"null", b"{", b'{"a":}', b"\xff\xfe", b'{"a": "\xe9"}', b"{}x"]
)
def test_what_is_no_json_object_is_400(raw: bytes) -> None:
    with pytest.raises(Problem) as raised:
        parse_json(raw)
    assert raised.value.status == 400
    assert raised.value.code == "VALIDATION_FAILED"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\xff", "The request body is not UTF-8."),
        (b"[1]", "The request body must be a JSON object."),
        (
            b'{"a":\n }',
            "The request body is not valid JSON: Expecting value at line 2, column 2.",
        ),
    ],
)
def test_what_is_no_json_object_says_why(raw: bytes, message: str) -> None:
    with pytest.raises(Problem) as raised:
        parse_json(raw)
    assert raised.value.message == message


def object_of(fields: int) -> bytes:
    return b"{" + b",".join(b'"%d":1' % place for place in range(fields)) + b"}"


def lists_of(containers: int) -> bytes:
    """Return an object with a list of empty lists. `containers` counts the object and the outer list too."""
    return b'{"a":[' + b",".join([b"[]"] * (containers - 2)) + b"]}"


@pytest.mark.parametrize(
    ("most", "one_more", "says"),
    [
        (lists_of(MOST_CONTAINERS), lists_of(MOST_CONTAINERS + 1), "has more than 100000 arrays and objects"),
        (
            b'{"a":[' + b",".join([object_of(100)] * 199 + [object_of(99)]) + b"]}",
            b'{"a":[' + b",".join([object_of(100)] * 200) + b"]}",
            "has more than 20000 fields",
        ),
        (
            b'{"a":[' + b",".join([b"NaN"] * MOST_TEXT_ERRORS) + b"]}",
            b'{"a":[' + b",".join([b"NaN"] * (MOST_TEXT_ERRORS + 1)) + b"]}",
            "has more than 1000 invalid numbers and fields",
        ),
    ],
    ids=["containers", "fields", "errors"],
)
def test_the_most_of_a_body_is_read_and_one_more_is_not(most: bytes, one_more: bytes, says: str) -> None:
    parse_json(most)
    with pytest.raises(Problem) as raised:
        parse_json(one_more)
    assert (raised.value.status, raised.value.message) == (422, f"The request body {says}.")


def test_colons_are_counted_before_an_object_is_made() -> None:
    """Half of the colons may be in texts, so a body may have twice as many colons as fields."""
    assert parse_json(b'{"a":"' + b":" * 39 + b'"}', most_fields=20)[1] == {}
    with pytest.raises(Problem) as raised:
        parse_json(b'{"a":"' + b":" * 40 + b'"}', most_fields=20)
    assert raised.value.message == "The request body has more than 20 fields."


@pytest.mark.parametrize(
    ("raw", "sentences"),
    [
        (object_of(MOST_FIELDS_OF_AN_OBJECT), []),
        (b'{"a":' + b"9" * MAX_INTEGER_DIGITS + b"}", []),
        (b'{"a":-' + b"9" * MAX_INTEGER_DIGITS + b"}", []),
        (b'{"a":-' + b"9" * (MAX_INTEGER_DIGITS + 1) + b"}", ["is outside the allowed range"]),
        (b'{"a":1.' + b"0" * (MAX_NUMBER_LENGTH - 2) + b"}", []),
        (b'{"a":1.' + b"0" * (MAX_NUMBER_LENGTH - 1) + b"}", ["has too many digits"]),
        (b'{"a":1e%d}' % MAX_INTEGER_DIGITS, []),
        (b'{"a":1e-%d}' % MAX_INTEGER_DIGITS, []),
        (b'{"a":1e%d}' % (MAX_INTEGER_DIGITS + 1), ["is outside the allowed range"]),
        (b'{"a":"\\ud7ff\\ue000"}', []),
        (
            b'{"a":"\\udfff"}',
            ["contains a broken character (half of a surrogate pair): delete it and type it again"],
        ),
    ],
)
def test_to_the_bound_it_is_taken(raw: bytes, sentences: list[str]) -> None:
    assert [sentence for found in parse_json(raw)[1].values() for sentence in found] == sentences


def test_a_fraction_is_the_number_that_was_written() -> None:
    assert parse_json(b'{"a": 0.30}')[0] == {"a": Decimal("0.30")}


def test_a_name_that_cannot_be_written_is_told_as_it_can() -> None:
    assert parse_json(b'{"a": [{"\\ud800": NaN, "b": 1, "b": 2}]}')[1] == {
        "a.0.?": [
            "has a name with a broken character (half of a surrogate pair): correct the name",
            "must be a number, not NaN",
        ],
        "a.0.b": ["is given twice"],
    }
    assert printable("a\ud800b\u20ac") == "a?b\u20ac"


def test_nesting_is_told_where_it_is() -> None:
    path = ".".join(["a"] * 32)
    deep = b'{"a":' * 33 + b"1" + b"}" * 33
    assert parse_json(deep)[1] == {path: ["has more than 32 levels of nesting"]}
    assert parse_json(b'{"a":' * 32 + b"1" + b"}" * 32)[1] == {}


def test_fields_are_counted_wherever_they_are() -> None:
    assert fields_in({"a": {"b": 1, "c": [{"d": 1}, {"e": {"f": 1}}, 5]}, "g": []}) == 7
    assert fields_in([[], "text"]) == 0


def test_the_same_document_has_the_same_bytes() -> None:
    same = {"b": Decimal("1.50"), "a": [{"d": 1, "c": "\u20ac\ud800"}]}
    assert canonical(same) == '{"a":[{"c":"\u20ac\ud800","d":1}],"b":"1.50"}'.encode("utf-8", "surrogatepass")
    assert canonical(dict(reversed(same.items()))) == canonical(same)


def test_a_name_that_cannot_be_written_is_told_where_all_else_is_sound() -> None:
    assert parse_json(b'{"\\ud800": 1}')[1] == {
        "?": ["has a name with a broken character (half of a surrogate pair): correct the name"]
    }
    assert parse_json(b'{"X\\ud800": 1, "Xa": NaN}')[1] == {
        "X?": ["has a name with a broken character (half of a surrogate pair): correct the name"],
        "Xa": ["must be a number, not NaN"],
    }


def test_of_very_many_texts_that_are_wrong_the_first_are_told() -> None:
    raw = b'{"a":[' + b",".join([b'"\\ud800"'] * (MOST_TEXT_ERRORS + 1)) + b"]}"
    assert list(parse_json(raw)[1]) == [f"a.{place}" for place in range(MOST_TEXT_ERRORS)]
