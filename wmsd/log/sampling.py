"""Decides which requests are logged, so that a flood of requests does not fill the disk."""

from collections import Counter
from typing import Final

from wmsd.base.clock import Clock

REPORT_SECONDS: Final = 10.0
"""The number of seconds between two log lines about requests that were not logged."""
REFUSED: Final = (5.0, 50)
"""The limits for log lines about requests that have no valid token or session, or that the rate limit refused
(429): lines per second, and lines in a burst. `FAILED` has the limits for failures.
"""
FAILED: Final = (20.0, 20)
"""The limits for log lines about requests that have no valid token or session, and failed with a status of 500 or
higher: lines per second, and lines in a burst. These failures are rarer than refusals, and their log lines say
more.
"""

TRACES: Final = (1.0, 10)
"""The limits for errors inside the HTTP server: tracebacks per second, and tracebacks in a burst.

A client that can cause one error can cause many.
"""


class TokenBucket:
    def __init__(self, per_second: float, burst: int, now: float) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._tokens = float(burst)
        self._seen = now

    def take(self, now: float) -> bool:
        self._tokens = min(self._burst, self._tokens + (now - self._seen) * self._per_second)
        self._seen = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class LogSampling:
    """Decides which requests are logged, and counts all others by status."""

    def __init__(self, clock: Clock) -> None:
        now = clock.monotonic()
        self._clock = clock
        self._refused = TokenBucket(*REFUSED, now)
        self._failed = TokenBucket(*FAILED, now)
        self._left_out: Counter[int] = Counter()
        self._since = now

    def admits(self, status: int, is_admitted: bool) -> bool:
        """Return True if the request must be logged. Otherwise count the request, and return False.

        `is_admitted` is True if the request has a valid token or session. wmsd always logs such a request, unless
        the rate limit refused it (429).
        """
        if is_admitted and status != 429:
            return True
        now = self._clock.monotonic()
        bucket = self._failed if status >= 500 else self._refused
        if bucket.take(now):
            return True
        if not self._left_out:
            self._since = now
        self._left_out[status] += 1
        return False

    def left_out(self) -> str | None:
        """Return a sentence about the requests that were not logged since the last call, or None if there were
        none.
        """
        if not self._left_out:
            return None
        seconds = max(1, round(self._clock.monotonic() - self._since))
        each = ", ".join(f"{status}: {_grouped(count)}" for status, count in sorted(self._left_out.items()))
        total = _grouped(self._left_out.total())
        refused = "refused " if min(self._left_out) >= 400 else ""
        self._left_out.clear()
        return f"{total} more {refused}requests were not logged in the last {seconds} s ({each})"


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")
