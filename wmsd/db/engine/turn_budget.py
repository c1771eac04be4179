"""A limit of the time in which work of one kind may begin in one turn (iteration) of the event loop."""

import asyncio
from time import perf_counter


class TurnBudget:
    """The time for work of one kind in each turn of the event loop.

    All files share this object. So the work of many files together does not make a turn much longer than the work
    of one file, and other tasks get their turn.
    """

    def __init__(self) -> None:
        self._is_begun = False
        self._until = 0.0

    def has_time(self, loop: asyncio.AbstractEventLoop, seconds: float) -> bool:
        """Return True if work may begin now: at most `seconds` have passed since the first call in this turn."""
        now = perf_counter()
        if not self._is_begun:
            loop.call_soon(self._end)
            self._is_begun, self._until = True, now + seconds
        return now < self._until

    def _end(self) -> None:
        self._is_begun = False
