"""Formatted JSON is the same JSON, and no number changes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from wmsd.interfaces.reference.try_out_page import laid_out

VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.text(),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_it_is_as_python_lays_it_out(value: Any) -> None:
    assert laid_out(json.dumps(value, ensure_ascii=False)) == json.dumps(value, ensure_ascii=False, indent=2)


@pytest.mark.parametrize("number", ["1.10", "0.000001", "12345678901234567890.123456789", "1E+2", "-0.0"])
def test_numbers_stay_as_they_were_sent(number: str) -> None:
    assert laid_out(f'{{"a":{number}}}') == f'{{\n  "a": {number}\n}}'


def test_nothing_stays_nothing() -> None:
    assert laid_out("") == ""
