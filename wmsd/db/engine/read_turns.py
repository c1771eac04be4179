"""The decision whether a read waits for the next turn (iteration) of the event loop, or runs immediately."""

import asyncio
from time import perf_counter
from typing import Final

LONG_SECONDS: Final = 0.01
"""Turns count as long if the reads of the last turn have waited for more than these seconds. The lists that 32
clients request at the same time wait for less.
"""
AT_ONCE_SECONDS: Final = 0.002


class ReadTurn:
    """The turns of the event loop, for the reads of all files.

    In short turns, reads wait for the next turn, in which the reads of a file share a snapshot. In long turns a
    read runs immediately, for a limited time. Thus a task that reads many files does not block other tasks.
    """

    def __init__(self) -> None:
        self.is_long = False
        self._is_begun = False
        self._until = 0.0

    def note(self, seconds: float) -> None:
        """Record how many seconds reads have waited for the current turn."""
        self.is_long = seconds > LONG_SECONDS

    def has_time(self, loop: asyncio.AbstractEventLoop) -> bool:
        now = perf_counter()
        if not self._is_begun:
            loop.call_soon(self._end)
            self._is_begun, self._until = True, now + AT_ONCE_SECONDS
        return now < self._until

    def _end(self) -> None:
        self._is_begun = False
