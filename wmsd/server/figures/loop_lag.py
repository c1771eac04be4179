"""The lag of the event loop, measured once a second, and the requests of the last minute."""

import asyncio
from collections import deque
from typing import Final, NamedTuple

from wmsd.dispatch.request_measures import RequestMeasures, difference

BEAT_SECONDS: Final = 1.0
BEATS: Final = 60
"""How many measurements of the lag (beats) are stored. There is one beat per second, so they cover one minute."""


class Beat(NamedTuple):
    at: float
    lag: float
    answered: list[int]


class LoopLag:
    def __init__(self, measures: RequestMeasures) -> None:
        self._measures = measures
        self._beats: deque[Beat] = deque(maxlen=BEATS)
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        now = asyncio.get_running_loop().time()
        self.beat(now, now)
        self._wait()

    def stop(self) -> None:
        if self._next is not None:
            self._next.cancel()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + BEAT_SECONDS
        self._next = loop.call_at(due, self._due, due)

    def _due(self, due: float) -> None:
        self.beat(due, asyncio.get_running_loop().time())
        self._wait()

    def beat(self, due: float, now: float) -> None:
        """Record a beat. `due` is the planned time of the beat, and `now` the present time. Both are in seconds on
        the loop's clock.
        """
        self._beats.append(Beat(now, max(0.0, now - due), self._measures.answered()))

    @property
    def lag(self) -> float:
        """The lag of the loop at the last measurement, in seconds."""
        return self._beats[-1].lag if self._beats else 0.0

    @property
    def most_lag(self) -> float:
        """The largest lag in the last minute, in seconds."""
        return max((each.lag for each in self._beats), default=0.0)

    def last_minute(self, now: float) -> tuple[float, list[int]]:
        """Return two values: the length of the measured period in seconds, and the number of requests that were
        answered in this period, by bucket of duration.

        The period ends at `now` on the loop's clock. It is about a minute long, but shorter after a start.
        """
        if not self._beats:
            return 0.0, []
        begin = self._beats[0]
        return now - begin.at, difference(self._measures.answered(), begin.answered)
