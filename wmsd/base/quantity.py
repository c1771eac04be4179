"""Quantities: exact decimals, held as integers of millionths (decisions, section 1)."""

from decimal import Decimal

SCALE = 1_000_000
MAXIMUM = 999_999_999_999_999
"""999 999 999.999999 in millionths."""


def from_decimal(value: Decimal | int) -> int:
    """Millionths of a decimal. Raises ValueError with a sentence when it does not fit."""
    decimal = Decimal(value)
    if not decimal.is_finite():
        raise ValueError("must be a finite number")
    if abs(decimal) > Decimal(MAXIMUM) / SCALE:
        raise ValueError("must be at most 999999999.999999")
    scaled = decimal.scaleb(6)
    millionths = int(scaled)
    if millionths != scaled:
        raise ValueError("must have at most 6 decimal places")
    return millionths


def to_text(millionths: int) -> str:
    """The shortest decimal text: `5`, `0.3`, `-1.000001`. Valid as a JSON number."""
    whole, fraction = divmod(abs(millionths), SCALE)
    sign = "-" if millionths < 0 else ""
    return f"{sign}{whole}.{fraction:06d}".rstrip("0").rstrip(".")
