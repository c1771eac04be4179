"""The decision whether a read waits for the next turn (iteration) of the event loop, or runs immediately."""

import asyncio
from time import perf_counter
from typing import Final

LONG_SECONDS: Final = 0.01
"""Turns count as long if reads have waited longer than this, in seconds, for the last turn. Lists that 32 clients
request at the same time wait less than this.
"""
AT_ONCE_SECONDS: Final = 0.002


class ReadTurn:
    """The turns (iterations) of the event loop, as a decision when to run a read. All files share this object.

    While turns are short, a read waits for the next turn. There it shares a snapshot with the other reads of its
    file. While turns are long, a read runs immediately if the time for immediate reads in this turn is not used
    up. Therefore a task that reads many files does not block other tasks.
    """

    def __init__(self) -> None:
        self.is_long = False
        self._is_begun = False
        self._until = 0.0

    def note(self, seconds: float) -> None:
        """Record for how many seconds reads have waited for the present turn."""
        self.is_long = seconds > LONG_SECONDS

    def has_time(self, loop: asyncio.AbstractEventLoop) -> bool:
        now = perf_counter()
        if not self._is_begun:
            loop.call_soon(self._end)
            self._is_begun, self._until = True, now + AT_ONCE_SECONDS
        return now < self._until

    def _end(self) -> None:
        self._is_begun = False
