"""The clocks of wmsd. Only this module reads the machine's clocks; all other code is given a `Clock`."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the time of the wall clock in UTC, timezone-aware.

        The wall clock may jump over a point in time. Code that waits for a point in time must expect this.
        """

    def monotonic(self) -> float:
        """Return seconds that never go back, for time windows and waits."""

    def passed(self) -> float:
        """Return seconds as `monotonic` does, but include the time in which the machine sleeps."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def passed(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)


LONGEST_STOP: Final = timedelta(days=31)
"""The longest time that the program may have been stopped. At the start, the clock is believed immediately if it
is at most this much later than the last time that was stored before the stop.
"""
SMALL_LEAP: Final = timedelta(hours=1)
"""While the program runs, the clock is believed immediately after a leap ahead of at most this much. The limit is
smaller than after a stop, because the program knows how much time has passed.
"""
LASTING_SECONDS: Final = 600.0
"""The seconds after a larger leap during which `ordering` does not follow the clock. Then the clock is believed.
When a machine starts with a wrong clock, the network usually corrects the clock within a minute.
"""


class _Leap(NamedTuple):
    zero: datetime
    """The time by the leapt clock at which `passed` was 0."""
    passed: float
    """The value of `passed` when the clock leapt."""


class OrderedClock:
    """A clock with a second time, `ordering`, from which the positions of changes are derived.

    Positions never go back. If the clock were far ahead for a few seconds, a change would get a position far in
    the future. All later changes of that company would then get positions right after that one, for years.
    Therefore a leap far ahead is followed only when it lasts.
    """

    _zero: datetime
    """The time by the believed clock at which `passed` was 0."""
    _most_ahead: timedelta
    """The largest leap ahead of the believed clock after which the clock is still believed immediately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leap: _Leap | None = None
        self.believe()

    def now(self) -> datetime:
        return self._clock.now()

    def ordering(self) -> datetime:
        """Return the time of the wall clock, unless the clock has leapt far ahead.

        After such a leap, return for ten minutes the time that the clock would have without the leap.
        """
        now, passed = self._clock.now(), self._clock.passed()
        expected = self._zero + timedelta(seconds=passed)
        if now > expected + self._most_ahead and not self._lasts(now, passed):
            return expected
        self._leap = None
        if now >= expected:
            self._zero, self._most_ahead = now - timedelta(seconds=passed), SMALL_LEAP
        return now

    def _lasts(self, now: datetime, passed: float) -> bool:
        zero = now - timedelta(seconds=passed)
        if self._leap is None or abs(zero - self._leap.zero) > SMALL_LEAP:
            self._leap = _Leap(zero, passed)
        return passed - self._leap.passed >= LASTING_SECONDS

    def remember(self, moment: datetime, leap: timedelta = LONGEST_STOP) -> None:
        """Believe a stored time, at which the clock was right before the program started.

        The clock is believed immediately if it is now at most `leap` later than `moment`.
        """
        self._zero, self._most_ahead = moment - timedelta(seconds=self._clock.passed()), leap
        self._leap = None

    def believe(self) -> None:
        """Accept the current time of the clock as right, because a user says so or nothing else is known."""
        self.remember(self._clock.now(), SMALL_LEAP)

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def passed(self) -> float:
        return self._clock.passed()
