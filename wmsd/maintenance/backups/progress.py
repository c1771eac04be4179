"""The progress of the work on a backup, for the waiting user."""

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """The file that is being processed, and how many bytes of `all` are done."""

    name: str
    done: int
    all: int


Tell = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report nothing."""
