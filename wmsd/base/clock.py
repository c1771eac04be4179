"""The clocks of wmsd. Only this module reads the machine's clocks; all other code is given a `Clock`."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the time of the wall clock in UTC, timezone-aware.

        The wall clock may skip some points in time. Code that waits for a point in time must expect this.
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
"""The longest stop of the program that is considered normal. At its start, wmsd compares the clock with the last
stored time. If the clock is at most this much later, wmsd accepts its time immediately.
"""
SMALL_LEAP: Final = timedelta(hours=1)
"""The largest forward jump of the clock that wmsd accepts immediately while it runs. This limit is smaller than
`LONGEST_STOP`, because a running program measures the passed time itself.
"""
LASTING_SECONDS: Final = 600.0
"""How long `ordering` ignores a forward jump that is too large. After that time, wmsd accepts the new time. If a
machine starts with a wrong clock, the network usually corrects the clock within a minute.
"""


class _Leap(NamedTuple):
    zero: datetime
    """The time of the wall clock minus `Clock.passed`, read after the jump. While later readings give about the
    same value, the clock has not jumped again.
    """
    passed: float
    """The value of `Clock.passed` when wmsd noticed the jump."""


class OrderedClock:
    """A clock that also has the time `ordering`. wmsd derives the positions in a company's change sequence from
    this time.

    These positions never decrease. Therefore a single change with a position far in the future has a lasting
    effect: later changes get positions just after it, possibly for years. To avoid this, `ordering` follows a
    large forward jump of the clock only after ten minutes.
    """

    _zero: datetime
    """The last accepted time of the wall clock, minus the value of `Clock.passed` at that time."""
    _most_ahead: timedelta
    """A forward jump of the clock up to this length is accepted immediately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leap: _Leap | None = None
        self.believe()

    def now(self) -> datetime:
        return self._clock.now()

    def ordering(self) -> datetime:
        """Return the time of the wall clock, unless the clock has jumped far ahead.

        During the ten minutes after such a jump, return the last accepted time plus the seconds that have passed
        since then.
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
        """Accept `moment` as the last known time. `moment` is a stored time at which the clock was right.

        From now on, `ordering` accepts the clock immediately if it is at most `leap` ahead of this known time.
        """
        self._zero, self._most_ahead = moment - timedelta(seconds=self._clock.passed()), leap
        self._leap = None

    def believe(self) -> None:
        """Accept the present time of the clock as right. Call this if a user has confirmed the time, or if no
        earlier time is known.
        """
        self.remember(self._clock.now(), SMALL_LEAP)

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def passed(self) -> float:
        return self._clock.passed()
