"""Counting the work of SQLite, in steps of its virtual machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from wmsd.base.dataclass import dataclass
from wmsd.db.engine.sqlite import sqlite3


@dataclass(slots=True)
class Steps:
    counted: int = 0


@contextmanager
def counted_steps(connection: sqlite3.Connection, by: int = 10) -> Iterator[Steps]:
    """Count the steps of the statements in the block, rounded down to a multiple of `by`."""
    steps = Steps()

    def count() -> int:
        steps.counted += by
        return 0

    connection.set_progress_handler(count, by)
    try:
        yield steps
    finally:
        connection.set_progress_handler(None, 0)
