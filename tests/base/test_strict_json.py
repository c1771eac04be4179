"""What JSON from strangers may not hold, and the path at which that is told."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.problems import Problem
from wmsd.base.strict_json import loads

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=5), plain, max_size=5))
def test_ordinary_documents_pass_unchanged(document: dict[str, Any]) -> None:
    assert loads(json.dumps(document).encode()) == (document, {})


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_refusal(raw: bytes) -> None:
    try:
        document, _ = loads(raw)
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
        (b'{"a": 1e999999}', {"a": ["is out of bounds"]}),
        (b'{"a": 12345678901234567890}', {"a": ["is out of bounds"]}),
        (b'{"a": 1.' + b"0" * 100 + b"}", {"a": ["has too many digits"]}),
        (b'{"a": "\\ud800"}', {"a": ["must not contain half of a surrogate pair"]}),
    ],
)
def test_flaws_are_named_by_their_path(raw: bytes, errors: dict[str, list[str]]) -> None:
    assert loads(raw)[1] == errors


def test_nesting_over_32_levels_is_a_flaw() -> None:
    def nested(levels: int) -> bytes:
        return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"

    assert loads(nested(32))[1] == {}
    assert len(loads(nested(33))[1]) == 1
    with pytest.raises(Problem, match="nested") as raised:
        loads(nested(90_000))
    assert raised.value.status == 422


def test_a_long_integer_costs_no_time() -> None:
    assert loads(b'{"a": ' + b"9" * 500_000 + b"}")[1] == {"a": ["is out of bounds"]}


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"1", b"null", b"{", b'{"a":}', b"\xff\xfe", b'{"a": "\xe9"}', b"{}x"]
)
def test_what_is_no_json_object_is_400(raw: bytes) -> None:
    with pytest.raises(Problem) as raised:
        loads(raw)
    assert raised.value.status == 400
    assert raised.value.code == "VALIDATION_FAILED"
