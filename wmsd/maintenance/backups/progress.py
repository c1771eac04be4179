"""The progress of work on a backup, which is shown to the waiting user."""

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """The progress of the work: `done` of `all` bytes. `name` says what is being processed now, such as a file."""

    name: str
    done: int
    all: int


Tell = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report nothing."""
