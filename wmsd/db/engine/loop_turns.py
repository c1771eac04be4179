"""Decides what work may begin in the present turn (iteration) of the event loop, and what waits for the next."""

import asyncio
from time import perf_counter
from typing import Final

LONG_SECONDS: Final = 0.01
"""Turns count as long if reads have waited more than this many seconds for the present turn. Reads wait less than
this even if 32 clients request lists at the same time.
"""
AT_ONCE_SECONDS: Final = 0.002


class TurnBudget:
    """The time for work of one kind in each turn of the event loop.

    All files share this object. So the work of many files together does not make a turn much longer than the work
    of one file, and other tasks get their turn.
    """

    def __init__(self) -> None:
        self.turns = 0
        """The number of turns with such work."""
        self._is_begun = False
        self._until = 0.0

    def has_time(self, loop: asyncio.AbstractEventLoop, seconds: float) -> bool:
        """Return True if work may begin now: at most `seconds` have passed since the first call in this turn."""
        now = perf_counter()
        if not self._is_begun:
            loop.call_soon(self._end)
            self._is_begun, self._until = True, now + seconds
            self.turns += 1
        return now < self._until

    def _end(self) -> None:
        self._is_begun = False


class ReadTurn:
    """Tells readers whether the event loop's turns (iterations) are long, and limits the reads that run
    immediately. All files share this object.

    While turns are short, reads of a file that come together wait for the next turn, and share a snapshot. While
    turns are long, a read runs immediately. One time limit applies to all immediate reads of a turn together.
    Therefore a task that reads many files does not block other tasks.
    """

    def __init__(self) -> None:
        self.is_long = False
        self._at_once = TurnBudget()

    def note(self, seconds: float) -> None:
        """Record how many seconds reads have waited for the present turn."""
        self.is_long = seconds > LONG_SECONDS

    @property
    def number(self) -> int:
        """The number of the present turn. Call `has_time` before."""
        return self._at_once.turns

    def has_time(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Return True if a read may run immediately in this turn."""
        return self._at_once.has_time(loop, AT_ONCE_SECONDS)
