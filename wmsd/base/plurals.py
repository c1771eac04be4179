"""How many of something, for people: `1 user`, `3 users`; and the first of many names."""

from collections.abc import Iterable
from itertools import islice


def count_of(number: int, singular: str, plural: str = "") -> str:
    """`plural` is given where it is not the singular with an s."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def first_few(names: Iterable[str], most: int = 3) -> list[str]:
    """With `…` at the end where there are more."""
    found = list(islice(names, most + 1))
    return [*found[:most], *(["…"] if len(found) > most else [])]
