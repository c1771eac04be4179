"""Texts about several things: counts with a noun, such as `1 user` and `3 users`, and the first of many names."""

from collections.abc import Iterable
from itertools import islice


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return the number with its noun. `plural` is necessary if the plural is not the singular with an s."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def first_few(names: Iterable[str], most: int = 3) -> list[str]:
    """Return the first `most` names, followed by `…` if there are more."""
    found = list(islice(names, most + 1))
    return [*found[:most], *(["…"] if len(found) > most else [])]
