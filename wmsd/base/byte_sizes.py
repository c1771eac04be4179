"""Numbers of bytes, as people read them."""

from decimal import Decimal
from typing import Final

UNITS: Final = ("B", "kB", "MB", "GB", "TB")

TOP: Final = Decimal("999.5")
"""What is not below it has four digits when it is rounded."""


def scaled(number: int) -> tuple[str, str]:
    """A number of bytes with three digits, and the largest unit that it has one of, such as `1.25` and `GB`."""
    value, unit = Decimal(number), UNITS[0]
    for larger in UNITS[1:]:
        if value < TOP:
            break
        value, unit = value / 1000, larger
    places = 0 if unit == UNITS[0] or value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{places}f}", unit


def size_text(number: int) -> str:
    """The same in one, such as `1.25 GB`."""
    return " ".join(scaled(number))
