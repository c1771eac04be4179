"""The order in which requests start when the event loop is overloaded.

Each started request takes part in every iteration of the event loop, and needs several iterations. Therefore many
started requests make the iterations long. While iterations are short, requests start immediately. A request that
arrives in a long iteration must wait. Each iteration starts some of the waiting requests, but only as many as keep
the iterations short. The request that has waited longest starts first. If a company has recently caused much load,
its requests wait longer, and so do requests without a company. So light users do not wait for heavy users.
"""

import asyncio
import math
from heapq import heappop, heappush
from itertools import count
from time import perf_counter
from typing import Final

LONG_SECONDS: Final = 0.005
"""An iteration of the event loop counts as long after this number of seconds."""
MOST_AT_ONCE: Final = 64
LONGEST_SECONDS: Final = 2.0
"""The maximum delay of a request because of load, in seconds. So no request waits forever."""
NOBODY: Final = math.inf


class Turns:
    def __init__(self) -> None:
        self._began = 0.0
        self._is_begun = False
        self._number = count()
        self._at_once = 1
        """The number of waiting requests that start in one iteration. The number grows while iterations are short,
        and falls when iterations are long.
        """
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    def is_long(self, now: float) -> bool:
        """Return True if a request that arrives now must wait. In this case, the caller must call `next`.

        `now` is a value of `perf_counter`.
        """
        if not self._is_begun:
            self._begin(now)
        return bool(self._waiting) or now - self._began > LONG_SECONDS

    async def next(self, cost: float) -> None:
        """Wait until the request may start. `cost` is the recent load of its company, in seconds.

        For a request without a known company, `cost` is NOBODY.
        """
        now = perf_counter()
        if not self._is_begun:
            self._begin(now)
        turn = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (now + min(cost, LONGEST_SECONDS), next(self._number), turn))
        await turn

    def _begin(self, now: float) -> None:
        asyncio.get_running_loop().call_soon(self._end)
        self._is_begun, self._began = True, now

    def _end(self) -> None:
        """Start some of the waiting requests at the end of an iteration. The next iteration processes them."""
        self._is_begun = False
        if not self._waiting:
            return
        is_short = perf_counter() - self._began < LONG_SECONDS
        self._at_once = min(self._at_once + 1, MOST_AT_ONCE) if is_short else max(self._at_once // 2, 1)
        begun = 0
        while self._waiting and begun < self._at_once:
            _, _, turn = heappop(self._waiting)
            if not turn.done():  # otherwise the client has left
                turn.set_result(None)
                begun += 1
        if self._waiting:
            self._begin(perf_counter())
