"""Clocks. Time is passed in from outside; only this module asks the machine's clocks."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, timezone-aware, in UTC. It may jump: code that must not skip a moment must not rely on
        it.
        """

    def monotonic(self) -> float:
        """Seconds that never go back, for windows and waits."""

    def passed(self) -> float:
        """As `monotonic`, but it also counts the time in which the machine sleeps."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def passed(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)


LONGEST_STOP: Final = timedelta(days=31)
"""How far a clock may be ahead of the last moment that was stored before a stop, and be followed at once."""
SMALL_LEAP: Final = timedelta(hours=1)
"""The same while the program runs: it knows how much time has passed."""
LASTING_SECONDS: Final = 600.0
"""How long a clock that leapt further must go on before changes follow it. A machine that starts with a wrong
clock is usually put right by the network within a minute.
"""


class _Leap(NamedTuple):
    zero: datetime
    """What the clock that leapt shows of the moment at which `passed` was 0."""
    passed: float
    """When it leapt."""


class OrderedClock:
    """A clock, and the moment by it that the places of changes follow (`ordering`).

    Places never go back. So a place from a moment far ahead, by a clock that was wrong for seconds, would have
    all later changes of that company stand right after it, for years. Therefore a clock that leaps far ahead is
    followed only when it goes on like that.
    """

    _zero: datetime
    """What the clock that is believed shows of the moment at which `passed` was 0."""
    _most_ahead: timedelta
    """How far the clock may be ahead of the one that is believed, and be followed at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leap: _Leap | None = None
        self.believe()

    def now(self) -> datetime:
        return self._clock.now()

    def ordering(self) -> datetime:
        """The wall clock, unless it has leapt far ahead: then what it would be without that, for ten minutes."""
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
        """`moment` is the last one at which the clock was known to be right, before the program began. `leap`: how
        far it may be ahead of that now.
        """
        self._zero, self._most_ahead = moment - timedelta(seconds=self._clock.passed()), leap
        self._leap = None

    def believe(self) -> None:
        """The clock is right now: somebody says so, or nothing else is known."""
        self.remember(self._clock.now(), SMALL_LEAP)

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def passed(self) -> float:
        return self._clock.passed()
