"""Quantities: exact decimals, stored as integers of millionths (decisions, section 1)."""

from decimal import MAX_PREC, Context, Decimal

SCALE = 1_000_000
MAXIMUM = 999_999_999_999_999
"""The largest quantity in millionths: 999 999 999.999999."""
LARGEST = Decimal("999999999.999999")
EXACT = Context(prec=MAX_PREC)
"""A decimal context that never rounds. The default context rounds to 28 digits, and would accept a number that is
slightly too large or too precise.
"""


def from_decimal(value: Decimal | int) -> int:
    """Return a decimal in millionths. Raise ValueError with a sentence if the decimal is too large or too
    precise.
    """
    decimal = Decimal(value)
    if not decimal.is_finite():
        raise ValueError("must be a finite number")
    if decimal.copy_abs() > LARGEST:
        raise ValueError("must be at most 999999999.999999")
    millionths = int(decimal.scaleb(6, EXACT))
    if Decimal(millionths).scaleb(-6, EXACT) != decimal:
        raise ValueError("must have at most 6 decimal places")
    return millionths


def to_text(millionths: int) -> str:
    """Return the shortest decimal text of a quantity: `5`, `0.3`, `-1.000001`. The text is a valid JSON number."""
    whole, fraction = divmod(abs(millionths), SCALE)
    sign = "-" if millionths < 0 else ""
    return f"{sign}{whole}.{fraction:06d}".rstrip("0").rstrip(".")
