"""Decides whether a read waits for the next turn (iteration) of the event loop, or runs immediately."""

import asyncio
from typing import Final

from wmsd.db.engine.turn_budget import TurnBudget

LONG_SECONDS: Final = 0.01
"""Turns count as long if reads have waited more than this many seconds for the present turn. Reads wait less than
this even if 32 clients request lists at the same time.
"""
AT_ONCE_SECONDS: Final = 0.002


class ReadTurn:
    """Decides when to run a read. The decision depends on the length of the event loop's turns (iterations). All
    files share this object.

    While turns are short, a read waits for the next turn, and shares a snapshot with other reads of its file.
    While turns are long, a read runs immediately. One time limit applies to all immediate reads of a turn
    together. Therefore a task that reads many files does not block other tasks.
    """

    def __init__(self) -> None:
        self.is_long = False
        self._at_once = TurnBudget()

    def note(self, seconds: float) -> None:
        """Record how many seconds reads have waited for the present turn."""
        self.is_long = seconds > LONG_SECONDS

    def has_time(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Return True if a read may run immediately in this turn."""
        return self._at_once.has_time(loop, AT_ONCE_SECONDS)
