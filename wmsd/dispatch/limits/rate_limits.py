"""Sliding windows of one minute for rate limits (decisions, section 8), on the monotonic clock."""

import math
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import field
from zlib import crc32

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem

WINDOW = 60.0
ROUNDING = 1e-6
"""The tolerance for rounding errors, in seconds. A client that waits exactly Retry-After seconds must be
admitted.
"""
GRAIN = 0.25
"""Requests within a quarter of a second are counted together, so that a window has at most 240 entries."""
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit-Policy", "RateLimit")
"""The headers that most clients know, and the headers of the IETF draft (draft-ietf-httpapi-ratelimit-headers)."""
UNCHANGED_AT_ONCE = 10
"""Only one of this many answers with status 304 (not modified) is counted."""
MOST_KEYS = 20_000
"""The maximum number of windows of each kind. Further keys share windows. A window in use is not deleted, because
that would reset its limit.
"""
SHARED = 1024


@dataclass(slots=True)
class _Grain:
    first: float
    last: float
    count: int


@dataclass(slots=True)
class Window:
    grains: deque[_Grain] = field(default_factory=deque)
    count: int = 0
    unchanged: int = 0
    """The number of 304 answers since the last 304 answer that was counted."""

    def forget_until(self, moment: float) -> None:
        while self.grains and self.grains[0].last <= moment:
            self.count -= self.grains.popleft().count

    def add(self, now: float) -> None:
        self.count += 1
        if self.grains and now - self.grains[-1].first < GRAIN:
            grain = self.grains[-1]
            grain.last, grain.count = now, grain.count + 1
        else:
            self.grains.append(_Grain(now, now, 1))

    def remove_last(self) -> None:
        """Remove the last added request from the count."""
        if not self.grains:
            return
        self.count -= 1
        self.grains[-1].count -= 1
        if not self.grains[-1].count:
            self.grains.pop()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a rate limit after a request. `reset` is the number of seconds until the whole limit is
    available again.
    """

    limit: int
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        limit, remaining, reset = self.limit, self.remaining, self.reset
        drafted = f'"minute";q={limit};w=60', f'"minute";r={remaining};t={reset}'
        return dict(zip(RATE_HEADERS, (str(limit), str(remaining), str(reset), *drafted), strict=True))


class Limiter:
    """The rate limit windows, by key. The first part of a key is its kind: `company:7`, `open:203.0.113.9`."""

    def __init__(self) -> None:
        self._kinds: dict[str, OrderedDict[str, Window]] = {}

    def take(self, key: str, limit: int, now: float) -> Allowance:
        """Count a request, and return what is left of the limit. If the limit is reached, count nothing and raise
        Problem (429).
        """
        window = self._window(key, now)
        if window.count >= limit:
            raise self._refusal(window, limit, now)
        window.add(now)
        return Allowance(limit, limit - window.count, self._reset(window, now))

    def unchanged(self, key: str, limit: int, now: float) -> Allowance:
        """Remove the last request from the count, because its answer was 304 (not modified). Return what is left
        of the limit.

        One in ten requests with the answer 304 stays in the count.
        """
        window = self._window(key, now)
        window.unchanged = (window.unchanged + 1) % UNCHANGED_AT_ONCE
        if window.unchanged:
            window.remove_last()
        return Allowance(limit, max(limit - window.count, 0), self._reset(window, now))

    def remove_last(self, key: str, now: float) -> None:
        """Remove the last request from the window, if the window has one."""
        self._window(key, now).remove_last()

    def check(self, key: str, limit: int, now: float) -> None:
        """Raise Problem (429) if the limit is reached. The request is not counted."""
        window = self._window(key, now)
        if window.count >= limit:
            raise self._refusal(window, limit, now)

    def used(self, key: str, now: float) -> int:
        """Return how many requests the window has now."""
        windows = self._kinds.get(key.partition(":")[0])
        window = None if windows is None else windows.get(key)
        if window is None:
            return 0
        window.forget_until(now - WINDOW + ROUNDING)
        return window.count

    def _window(self, key: str, now: float) -> Window:
        kind = key.partition(":")[0]
        windows = self._kinds.get(kind)
        if windows is None:
            windows = self._kinds[kind] = OrderedDict()
        window = windows.get(key)
        if window is None:
            if len(windows) >= MOST_KEYS:
                _forget_empty(windows, now)
            if len(windows) >= MOST_KEYS:
                key = f"{kind}:shared {crc32(key.encode('utf-8', 'replace')) % SHARED}"
            window = windows.setdefault(key, Window())
        windows.move_to_end(key)
        window.forget_until(now - WINDOW + ROUNDING)
        return window

    def _refusal(self, window: Window, limit: int, now: float) -> Problem:
        over, wait = window.count - limit + 1, WINDOW
        for grain in window.grains:
            over -= grain.count
            wait = grain.last + WINDOW - now
            if over <= 0:
                break
        seconds = max(1, math.ceil(wait))
        headers: Mapping[str, str] = {
            "Retry-After": str(seconds),
            **Allowance(limit, 0, self._reset(window, now)).headers(),
        }
        return Problem(
            "RATE_LIMIT_EXCEEDED",
            f"Too many requests: the limit is {limit} a minute. Try again in {seconds} s.",
            headers=headers,
        )

    @staticmethod
    def _reset(window: Window, now: float) -> int:
        """Return the seconds until the window is empty again."""
        return max(1, math.ceil(window.grains[-1].last + WINDOW - now)) if window.grains else 0


def _forget_empty(windows: OrderedDict[str, Window], now: float) -> None:
    """Delete empty windows. The least recently used windows come first, so the loop stops at the first window that
    is not empty.
    """
    while windows:
        key, window = next(iter(windows.items()))
        window.forget_until(now - WINDOW + ROUNDING)
        if window.grains:
            return
        del windows[key]
