"""Limits the pace of the writes that people send from pages: forms, scans, actions.

The limits never stop normal users. A write that comes too soon waits for its turn in the order of arrival. It
waits first among the person's writes, and then among the company's writes. Therefore a person who sends requests
endlessly slows down only their own writes. A waiting write holds no transaction and no lock.

The pace is a token bucket. A waiting write has taken a token in advance, so the number of tokens may be negative.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.dispatch.limits.rate_limits import ROUNDING


class Pace(NamedTuple):
    """The pace of page writes. `at_once` writes may run in a burst, and then `a_second` writes per second. At most
    `waiting` writes may wait.
    """

    at_once: int
    a_second: float
    waiting: int


PERSON: Final = Pace(60, 10, 100)
COMPANY: Final = Pace(480, 40, 800)
"""The pace of a company. It is enough for eight people with handhelds who scan in bursts of 20 scans a second."""
PATIENCE: Final = 10.0
"""The longest wait in seconds. A write whose wait is longer is refused immediately."""
MOST_LINES: Final = 10_000
"""If there are this many token buckets, wmsd deletes those that are not in use."""


@dataclass(slots=True)
class _Line:
    """The token bucket of one person or one company, with the number of its waiting writes."""

    pace: Pace
    left: float
    """The number of tokens at the time `at`."""
    at: float
    waiting: int = 0

    def wait(self, now: float) -> float:
        """Return the seconds that a write arriving now has to wait."""
        seconds = (1 - self._left(now)) / self.pace.a_second
        return seconds if seconds > ROUNDING else 0.0

    def take(self, now: float) -> None:
        self.left, self.at = self._left(now) - 1, now

    def is_idle(self, now: float) -> bool:
        return not self.waiting and self._left(now) >= self.pace.at_once

    def _left(self, now: float) -> float:
        return min(float(self.pace.at_once), self.left + (now - self.at) * self.pace.a_second)


class PageWrites:
    def __init__(self, clock: Clock, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._clock = clock
        self._sleep = sleep
        self._lines: dict[tuple[str, int], _Line] = {}

    async def turn(self, person: int, company: int | None) -> bool:
        """Wait until the write may run. Return True if the write had to wait. Raise Problem (429) if the wait
        would be too long.
        """
        began = self._clock.monotonic()
        self._forget_idle(began)
        lines = [self._line("person", person, PERSON, began)]
        if company is not None:
            lines.append(self._line("company", company, COMPANY, began))
        longest = max(line.wait(began) for line in lines)
        if longest > PATIENCE or any(line.waiting >= line.pace.waiting for line in lines):
            raise _refusal(longest)
        for line in lines:
            line.waiting += 1
        try:
            return any([await self._turn_of(line, began) for line in lines])
        finally:
            for line in lines:
                line.waiting -= 1

    async def _turn_of(self, line: _Line, began: float) -> bool:
        now = self._clock.monotonic()
        wait = line.wait(now)
        if wait > began + PATIENCE - now:
            raise _refusal(now - began + wait)
        line.take(now)
        if wait:
            await self._sleep(wait)
        return wait > 0

    def _line(self, kind: str, number: int, pace: Pace, now: float) -> _Line:
        return self._lines.setdefault((kind, number), _Line(pace, pace.at_once, now))

    def _forget_idle(self, now: float) -> None:
        if len(self._lines) >= MOST_LINES:
            self._lines = {key: line for key, line in self._lines.items() if not line.is_idle(now)}


def _refusal(wait: float) -> Problem:
    """Return the error for a refused write. `wait` is the number of seconds until its turn."""
    seconds = max(1, math.ceil(wait - PATIENCE))
    return Problem(
        "RATE_LIMIT_EXCEEDED",
        f"Too many changes at the same time, so this change was not made. Send it again in {seconds} s.",
        headers={"Retry-After": str(seconds)},
    )
