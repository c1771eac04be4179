"""Clocks. Time is passed in from outside; only this module asks the machine's clocks."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, timezone-aware, in UTC. It may jump: code that must not skip a moment must not rely on
        it.
        """
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for windows and waits."""
        ...

    def passed(self) -> float:
        """As `monotonic`, but it also counts the time in which the machine sleeps."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def passed(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)


class OrderedClock:
    """A clock that also remembers the latest moment that it has returned."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._latest = clock.now()

    def now(self) -> datetime:
        now = self._clock.now()
        self._latest = max(self._latest, now)
        return now

    def latest(self) -> datetime:
        """The latest moment so far. It never goes back while the process runs, whatever the wall clock does."""
        self.now()
        return self._latest

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def passed(self) -> float:
        return self._clock.passed()
