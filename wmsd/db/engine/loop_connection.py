"""A connection for units of work on the event loop. Each unit of work has a time limit.

SQLite checks the limit while it runs a statement, and interrupts the statement when the limit has passed. A thread
then runs the unit of work from its beginning.
"""

import math
import time
from typing import Final

from wmsd.db.engine.sqlite import sqlite3

MOMENT_SECONDS: Final = 0.003
"""The maximum processor time of a unit of work on the event loop. The time of other threads and processes does not
count. So quick work stays on the event loop even if the machine is busy.
"""
STALL_SECONDS: Final = 0.05
"""If a unit of work or a turn takes longer than this, wmsd assumes that it is waiting for the disk. This limit is
elapsed time, not processor time.
"""
STEPS_BETWEEN_LOOKS: Final = 2000
"""How many steps SQLite runs between two checks of the clock. SQLite runs a few dozen steps in a microsecond."""


class LoopConnection:
    """A connection and the time limit of its units of work. The limit applies between `begin` and `end`."""

    def __init__(self, sqlite: sqlite3.Connection) -> None:
        self.sqlite = sqlite
        self.was_interrupted = False
        """True if the time limit of the present or the last unit of work has passed."""
        self._until = math.inf
        self._stalled_at = math.inf
        self._is_bounded = False
        self._may_be_bounded = False
        """True also if an error occurred while the limit was being set or removed."""

    def bound(self) -> None:
        """Let SQLite check the limit. Call this before `begin`."""
        if not self._is_bounded:
            self._may_be_bounded = True
            self.sqlite.set_progress_handler(self._is_over, STEPS_BETWEEN_LOOKS)
            self._is_bounded = True

    def unbound(self) -> None:
        """Let SQLite no longer check the limit. Call this before a thread runs work with the connection, because
        each check takes Python's lock.
        """
        if self._may_be_bounded:
            self._is_bounded = False
            self.sqlite.set_progress_handler(None, 0)
            self._may_be_bounded = False  # last: if memory runs out before this line, the next work tries again

    def close(self) -> None:
        """Close the connection.

        The driver hides its reference to this object from the garbage collector. Without `unbound`, both would
        stay in memory forever.
        """
        try:
            self.unbound()
        finally:
            self.sqlite.close()

    def begin(self, now: float, seconds: float | None = None) -> None:
        """Begin a unit of work. It may take `seconds` of processor time, by default `MOMENT_SECONDS`. `now` is the
        processor time that this thread has used so far.
        """
        self.was_interrupted = False
        self._until = now + (MOMENT_SECONDS if seconds is None else seconds)
        self._stalled_at = time.monotonic() + STALL_SECONDS

    def end(self) -> None:
        self._until = self._stalled_at = math.inf

    def _is_over(self) -> bool:
        is_over = time.thread_time() > self._until or time.monotonic() > self._stalled_at
        self.was_interrupted = self.was_interrupted or is_over
        return is_over
