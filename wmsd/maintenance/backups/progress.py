"""How far the work on a backup has come, for whoever waits."""

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """What is worked at now, and how many bytes of how many are done."""

    name: str
    done: int
    all: int


Tell = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Tells nobody."""
