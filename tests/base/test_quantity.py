"""Tests of quantities: they are exact, so the value that is read is the value that was written."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base import quantity

millionths = st.integers(-quantity.MAXIMUM, quantity.MAXIMUM)


@given(millionths)
def test_text_and_back(value: int) -> None:
    assert quantity.from_decimal(Decimal(quantity.to_text(value))) == value


@given(millionths, millionths)
def test_sums_are_the_sums_of_decimals(first: int, second: int) -> None:
    total = Decimal(quantity.to_text(first)) + Decimal(quantity.to_text(second))
    assert Decimal(quantity.to_text(first + second)) == total


def test_a_tenth_and_two_tenths_are_three_tenths() -> None:
    parts = quantity.from_decimal(Decimal("0.1")) + quantity.from_decimal(Decimal("0.2"))
    assert quantity.to_text(parts) == "0.3"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0.1234567", "at most 6 decimal places"),
        ("1000000000", "at most 999999999.999999"),
        ("-1000000000", "at most 999999999.999999"),
        ("NaN", "a finite number"),
        ("Infinity", "a finite number"),
        ("1e-7", "at most 6 decimal places"),
        ("1.0000000000000000000000000000001", "at most 6 decimal places"),
        ("999999999.9999990000000000000000001", "at most 999999999.999999"),
        ("1e-999999", "at most 6 decimal places"),
        ("1e999999", "at most 999999999.999999"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^must (be|have) {sentence}$"):
        quantity.from_decimal(Decimal(text))


@given(st.decimals(allow_nan=True, allow_infinity=True))
def test_any_decimal_is_kept_exactly_or_refused(value: Decimal) -> None:
    try:
        kept = quantity.from_decimal(value)
    except ValueError:
        return
    assert Decimal(kept) / quantity.SCALE == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1, "0.000001"),
        (-1, "-0.000001"),
        (5_000_000, "5"),
        (100_000_000, "100"),
        (-1_500_000, "-1.5"),
        (quantity.MAXIMUM, "999999999.999999"),
    ],
)
def test_the_shortest_text(value: int, text: str) -> None:
    assert quantity.to_text(value) == text


def test_the_context_of_others_changes_nothing() -> None:
    """The decimal context of a program does not matter.

    The default context has 28 digits, and a program may set fewer.
    """
    with localcontext(prec=3):
        assert quantity.from_decimal(Decimal("123456789.123456")) == 123456789123456
