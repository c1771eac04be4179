"""Decides whether the wall clock can be trusted. Pure.

Old data is deleted by this clock, and deleted data is gone. A small machine may start in 1970, jump when the
network answers, or be set by hand to the wrong year. So the wall clock is compared with the seconds that have
really passed, and after a stop with the last moment that was stored.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

A_STEP: Final = timedelta(seconds=60)
"""A smaller step makes no data old."""
LONGEST_STOP: Final = timedelta(days=1)
"""Nobody knows how long a stop was. A longer one than this may have been a step of the clock."""
STEADY_AFTER: Final = timedelta(days=1)
"""How long the clock must run without another step."""


class Reading(NamedTuple):
    """`passed` are seconds of a clock that nobody sets; its zero does not matter."""

    wall: datetime
    passed: float

    @property
    def zero(self) -> datetime:
        """What the wall clock shows of the moment at which `passed` was 0: the same as long as nobody sets it."""
        return self.wall - timedelta(seconds=self.passed)


class Known(NamedTuple):
    """What is stored over a stop."""

    steady_at: datetime
    """The last moment at which the clock was steady."""
    seen_at: datetime
    """The last moment that was read."""
    doubted_since: datetime | None = None
    step: timedelta | None = None
    """By how much the clock was set; None after a stop that was merely long."""


class _Window(NamedTuple):
    """The range in which a clock can be that nobody has set, by the `zero` of its readings."""

    earliest: datetime
    latest: datetime

    def holds(self, now: Reading) -> bool:
        return self.earliest - A_STEP <= now.zero <= self.latest + A_STEP


def _after_stop(stopped_at: datetime, now: Reading) -> _Window:
    began = stopped_at - timedelta(seconds=now.passed)
    return _Window(began, began + LONGEST_STOP)


class ClockTrust:
    """The clock is doubted after a step, until it is back where it would be without the step, or a day has passed
    without another one.
    """

    def __init__(self, now: Reading, known: Known | None) -> None:
        self._last = now
        self._right: _Window | None = None
        self.steady_at = now.wall
        self.doubted_since: datetime | None = None
        self.step: timedelta | None = None
        if known is not None:
            self._compare(now, known)

    def _compare(self, now: Reading, known: Known) -> None:
        right = _after_stop(known.steady_at, now)
        if right.holds(now):
            return
        self._right, self.steady_at = right, known.steady_at
        if known.doubted_since is not None and _after_stop(known.seen_at, now).holds(now):
            self.doubted_since, self.step = known.doubted_since, known.step
            self._end_if_steady(now)
            return
        self.doubted_since = now.wall
        self.step = now.wall - known.seen_at if now.wall < known.seen_at else None

    @property
    def is_steady(self) -> bool:
        return self.doubted_since is None

    def look(self, now: Reading) -> bool:
        """Reads the clock; call it often. Whether a step was found, or the doubt is over."""
        step = now.zero - self._last.zero
        before = self.doubted_since
        if abs(step) > A_STEP:
            if self.is_steady:
                self._right = _Window(self._last.zero, self._last.zero)
            self.doubted_since, self.step = now.wall, step
        self._last = now
        self._end_if_steady(now)
        if self.is_steady:
            self.steady_at = now.wall
        return self.doubted_since != before

    def _end_if_steady(self, now: Reading) -> None:
        if self.doubted_since is None:
            return
        is_right = self._right is not None and self._right.holds(now)
        if is_right or now.wall - self.doubted_since >= STEADY_AFTER:
            self.trust()

    def trust(self) -> None:
        """Ends the doubt, because a person says so or time has shown it."""
        self.doubted_since, self.step, self._right = None, None, None
        self.steady_at = self._last.wall

    @property
    def known(self) -> Known:
        return Known(self.steady_at, self._last.wall, self.doubted_since, self.step)
