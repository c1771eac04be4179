"""Whether a read waits for the next turn of the event loop, or is done at once because turns are long."""

import asyncio
from time import perf_counter
from typing import Final

LONG_SECONDS: Final = 0.01
"""Turns are long when a read has waited longer for one. Lists for 32 clients at once make shorter ones."""
AT_ONCE_SECONDS: Final = 0.002


class ReadTurn:
    """Of the reads of all files. While turns are short, reads wait for the next one, where those of a file share a
    snapshot. In long ones a read is done at once, for some time of each: whoever reads file after file still lets
    others through.
    """

    def __init__(self) -> None:
        self.is_long = False
        self._is_begun = False
        self._until = 0.0

    def note(self, seconds: float) -> None:
        """What reads have waited for a turn now."""
        self.is_long = seconds > LONG_SECONDS

    def has_time(self, loop: asyncio.AbstractEventLoop) -> bool:
        now = perf_counter()
        if not self._is_begun:
            loop.call_soon(self._end)
            self._is_begun, self._until = True, now + AT_ONCE_SECONDS
        return now < self._until

    def _end(self) -> None:
        self._is_begun = False
