"""Whether the wall clock can be believed: a pure decision.

What is old is deleted by it, and what is deleted is gone. A small box may start in 1970, jump when the network
answers, or be set by hand to the wrong year. So its moments are compared with the seconds that have really passed,
and after a stop with the last moment that was kept.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

A_STEP: Final = timedelta(seconds=60)
"""What is set by less makes nothing old."""
LONGEST_STOP: Final = timedelta(days=1)
"""After a stop nobody knows how long it was; beyond this it may have been a step."""
STEADY_AFTER: Final = timedelta(days=1)
"""Without another step."""


class Reading(NamedTuple):
    """`passed`: seconds of a clock that nobody sets, from any beginning."""

    wall: datetime
    passed: float


class Known(NamedTuple):
    """What is kept of it over a stop."""

    steady_at: datetime
    """The last moment of a steady clock."""
    seen_at: datetime
    """The last moment of all."""
    doubted_since: datetime | None = None
    step: timedelta | None = None
    """By how much it was set; None after a stop that was merely long."""


@dataclass(frozen=True, slots=True)
class _Window:
    """Where a clock that nobody has set may stand."""

    earliest: datetime
    latest: datetime
    passed: float

    def holds(self, now: Reading) -> bool:
        since = timedelta(seconds=now.passed - self.passed)
        return self.earliest + since - A_STEP <= now.wall <= self.latest + since + A_STEP


class Steadiness:
    """Doubted since a step, until it stands where it would without it, or there was no other for a day."""

    def __init__(self, now: Reading, known: Known | None) -> None:
        self._last = now
        self._right: _Window | None = None
        self.steady_at = now.wall
        self.doubted_since: datetime | None = None
        self.step: timedelta | None = None
        if known is not None:
            self._compare(now, known)

    def _compare(self, now: Reading, known: Known) -> None:
        right = _Window(known.steady_at, known.steady_at + LONGEST_STOP, now.passed)
        if right.holds(now):
            return
        self._right, self.steady_at = right, known.steady_at
        goes_on = _Window(known.seen_at, known.seen_at + LONGEST_STOP, now.passed).holds(now)
        if known.doubted_since is not None and goes_on:
            self.doubted_since, self.step = known.doubted_since, known.step
            self._end_if_steady(now)
            return
        self.doubted_since = now.wall
        self.step = now.wall - known.seen_at if now.wall < known.seen_at else None

    @property
    def is_steady(self) -> bool:
        return self.doubted_since is None

    def look(self, now: Reading) -> bool:
        """To be called often. Whether there was a step, or the doubt is over."""
        expected = self._last.wall + timedelta(seconds=now.passed - self._last.passed)
        step = now.wall - expected
        before = self.doubted_since
        if abs(step) > A_STEP:
            if self.is_steady:
                self._right = _Window(expected, expected, now.passed)
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
        """A person says so, or time has shown it."""
        self.doubted_since, self.step, self._right = None, None, None
        self.steady_at = self._last.wall

    @property
    def known(self) -> Known:
        return Known(self.steady_at, self._last.wall, self.doubted_since, self.step)
