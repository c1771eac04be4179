"""Decides whether the wall clock can be trusted. All code here is pure.

wmsd deletes old data by the wall clock, and deleted data is lost. The clock can be wrong: a small machine may
start in 1970, and jump when the network answers. A person may set the wrong year. Therefore wmsd compares the wall
clock with a second clock that counts the passed seconds. After a stop of wmsd, the wall clock is compared with the
last stored time.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

A_STEP: Final = timedelta(seconds=60)
"""The smallest change of the clock that counts as a step. Smaller changes are ignored: they do not make data old
enough to be deleted.
"""
LONGEST_STOP: Final = timedelta(days=1)
"""If wmsd was stopped for longer than this, the clock is not trusted. wmsd cannot measure the length of a stop, so
a longer stop may also be a step of the clock.
"""
STEADY_AFTER: Final = timedelta(days=1)
"""After a step, the clock is trusted again if it runs this long without another step."""


class Reading(NamedTuple):
    """A reading of two clocks: `wall` is the time of the wall clock, `passed` the seconds of a clock that nobody
    can set.

    Only the difference between two values of `passed` has a meaning.
    """

    wall: datetime
    passed: float

    @property
    def zero(self) -> datetime:
        """The time of the wall clock minus `passed`. This value changes only if a person sets the wall clock."""
        return self.wall - timedelta(seconds=self.passed)


class Known(NamedTuple):
    """What is stored about the clock, so that the next start can use it.

    `doubted_since` is the time at which the present doubt about the clock began, or None if the clock is trusted.
    """

    steady_at: datetime
    """The time of the last reading at which the clock was trusted."""
    seen_at: datetime
    """The time of the last reading."""
    doubted_since: datetime | None = None
    step: timedelta | None = None
    """How far the clock was set forward (or back, if negative). None if the clock is trusted, or if it is in doubt
    because wmsd was stopped for long.
    """


class _Window(NamedTuple):
    """A range of times. If nobody has set the clock, the `zero` of each reading is in this range."""

    earliest: datetime
    latest: datetime

    def holds(self, now: Reading) -> bool:
        return self.earliest - A_STEP <= now.zero <= self.latest + A_STEP


def _after_stop(stopped_at: datetime, now: Reading) -> _Window:
    began = stopped_at - timedelta(seconds=now.passed)
    return _Window(began, began + LONGEST_STOP)


class ClockTrust:
    """Decides whether the wall clock can be trusted. After a step, the clock is not trusted.

    The clock is trusted again after a step back to the right time, or after a day without another step.
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
        """Record a reading of the clock. Return True if this reading starts or ends a doubt about the clock.

        Call this method often: it finds a step by comparing a reading with the previous one.
        """
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
        """Trust the clock from now on. Call this if a user has confirmed that the clock is right."""
        self.doubted_since, self.step, self._right = None, None, None
        self.steady_at = self._last.wall

    @property
    def known(self) -> Known:
        return Known(self.steady_at, self._last.wall, self.doubted_since, self.step)
