"""Sizes and spans of time, as people read them."""

from decimal import Decimal
from typing import Final

from wmsd.base import byte_sizes as sizes
from wmsd.interfaces.pages.kit.text.language import formats

BLANK: Final = "\u202f"
SPANS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def size(number: int) -> str:
    """A number of bytes with three digits, such as `1.25 GB`."""
    return _written(*sizes.scaled(number))


def duration(seconds: int) -> str:
    """In the two largest units that it has, such as `3 d 4 h`."""
    parts: list[str] = []
    left = max(0, seconds)
    for unit, length in SPANS:
        if left >= length or (parts and left):
            parts.append(_measured(Decimal(left // length), 0, unit))
            left %= length
    return " ".join(parts[:2]) or _measured(Decimal(), 0, SPANS[-1][0])


def took(seconds: Decimal | int) -> str:
    """How long something took, such as `3 ms` or `2.4 s`."""
    return _measured(Decimal(seconds) * 1000, 0, "ms") if seconds < 1 else _measured(Decimal(seconds), 1, "s")


def _measured(value: Decimal, places: int, unit: str) -> str:
    return _written(f"{value:.{places}f}", unit)


def _written(value: str, unit: str) -> str:
    return f"{value}{BLANK}{unit}".replace(".", formats().decimal)
