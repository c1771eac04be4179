"""How many attempts begin in a moment: few while requests keep the service busy, and few at receivers that fail.

Python runs one thing at a time, and an attempt costs about as much as a request. So requests go first, and a
hundred dead receivers take no more than a few; but none ever stands still. What waits, waits in its rows.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

MOMENT_SECONDS: Final = 0.05
BUSY_REQUESTS: Final = 5
"""So many in a moment, 100 a second, keep the service busy."""
PROVEN_WHILE_BUSY: Final = 4
UNPROVEN: Final = 10
UNPROVEN_WHILE_BUSY: Final = 1


class Throttle:
    """`answered` tells how many requests there have been. Proven are attempts whose receiver has just answered."""

    def __init__(self, answered: Callable[[], int], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._answered = answered
        self._monotonic = monotonic
        self._is_busy = False
        self._turns = {is_proven: asyncio.Lock() for is_proven in (True, False)}
        self._begin_moment()

    @property
    def is_busy(self) -> bool:
        """Whether requests have kept the service busy of late."""
        self._look()
        return self._is_busy

    async def turn(self, is_proven: bool) -> None:
        """Waits for the moment in which one more may begin; first come, first served."""
        async with self._turns[is_proven]:
            while not self.may_begin(is_proven):  # noqa: ASYNC110  # a moment ends by itself
                await asyncio.sleep(MOMENT_SECONDS)
            self.begin(is_proven)

    def may_begin(self, is_proven: bool) -> bool:
        """Whether one more may begin now."""
        self._look()
        if is_proven:
            return not self._is_busy or self._begun[True] < PROVEN_WHILE_BUSY
        return self._begun[False] < (UNPROVEN_WHILE_BUSY if self._is_busy else UNPROVEN)

    def begin(self, is_proven: bool) -> None:
        self._begun[is_proven] += 1

    def _look(self) -> None:
        moments = (self._monotonic() - self._began) / MOMENT_SECONDS
        if moments >= 1:
            self._is_busy = self._answered() - self._answered_before >= BUSY_REQUESTS * moments
            self._begin_moment()

    def _begin_moment(self) -> None:
        self._began = self._monotonic()
        self._answered_before = self._answered()
        self._begun = {True: 0, False: 0}
