"""Sliding windows of a minute (decisions, section 8), on the monotonic clock."""

import math
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from wmsd.base.problems import Problem

WINDOW = 60.0
ROUNDING = 1e-6
"""What adding seconds to a float may lose: a wait of exactly Retry-After must be enough."""
GRAIN = 0.25
"""Requests within a quarter of a second are remembered together, so that a window is at most 240 entries."""
MOST_KEYS = 50_000


@dataclass(slots=True)
class _Grain:
    first: float
    last: float
    count: int


@dataclass(slots=True)
class Window:
    grains: deque[_Grain] = field(default_factory=deque)
    count: int = 0

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


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a window after a request."""

    limit: int
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Limiter:
    """Windows by key: `company:7`, `address:203.0.113.9`. The least recently used are forgotten first."""

    def __init__(self) -> None:
        self._windows: OrderedDict[str, Window] = OrderedDict()

    def take(self, key: str, limit: int, now: float) -> Allowance:
        """Counts a request. Raises Problem (429), uncounted, when the window is full."""
        window = self._window(key, now)
        if window.count >= limit:
            raise self._refusal(window, limit, now)
        window.add(now)
        return Allowance(limit, limit - window.count, self._reset(window, now))

    def check(self, key: str, limit: int, now: float) -> None:
        """Raises as `take` does, and counts nothing."""
        window = self._window(key, now)
        if window.count >= limit:
            raise self._refusal(window, limit, now)

    def _window(self, key: str, now: float) -> Window:
        window = self._windows.get(key)
        if window is None:
            window = self._windows[key] = Window()
            if len(self._windows) > MOST_KEYS:
                self._windows.popitem(last=False)
        else:
            self._windows.move_to_end(key)
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
        """Seconds until the whole window is free again."""
        return max(1, math.ceil(window.grains[-1].last + WINDOW - now)) if window.grains else 0
