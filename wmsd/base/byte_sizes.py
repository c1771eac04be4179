"""Numbers of bytes as text for people."""

from decimal import Decimal
from typing import Final

UNITS: Final = ("B", "kB", "MB", "GB", "TB")

TOP: Final = Decimal("999.5")
"""Numbers from `TOP` on are displayed in the next larger unit. The reason is that 999.5 would be rounded to 1000,
which has four digits.
"""


def scaled(number: int) -> tuple[str, str]:
    """Return a number of bytes with three digits, and its unit, such as `1.25` and `GB`.

    The unit is the largest one in which the rounded number is at least 1.
    """
    value, unit = Decimal(number), UNITS[0]
    for larger in UNITS[1:]:
        if value < TOP:
            break
        value, unit = value / 1000, larger
    places = 0 if unit == UNITS[0] or value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{places}f}", unit


def size_text(number: int) -> str:
    """Return a number of bytes with its unit, such as `1.25 GB`."""
    return " ".join(scaled(number))
