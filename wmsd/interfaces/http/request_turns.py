"""Lets requests begin in order when the event loop has more to do than it manages.

All that has begun is worked at in every turn of the loop, so the more has begun, the longer each turn takes, and a
request passes several. While turns are short, a request begins at once. In a long one it waits, and in those that
follow as many begin as keep them short. Who has waited longest is next, but each waits longer by what its company
has cost lately: one that asks for little does not wait for those that ask for much, nor for who names no company.
"""

import asyncio
import math
from heapq import heappop, heappush
from itertools import count
from time import perf_counter
from typing import Final

LONG_SECONDS: Final = 0.005
"""The time after which a turn of the loop is a long one."""
MOST_AT_ONCE: Final = 64
LONGEST_SECONDS: Final = 2.0
"""That somebody waits longer than another: nobody waits for ever."""
NOBODY: Final = math.inf


class Turns:
    def __init__(self) -> None:
        self._began = 0.0
        self._is_begun = False
        self._number = count()
        self._at_once = 1
        """How many of those that wait begin in a turn: more while turns stay short, and fewer when they do not."""
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    def is_long(self, now: float) -> bool:
        """Whether what begins now must wait for a turn. `now`: by `perf_counter`."""
        if not self._is_begun:
            self._begin(now)
        return bool(self._waiting) or now - self._began > LONG_SECONDS

    async def next(self, cost: float) -> None:
        """Waits for a turn. `cost`: the seconds that the company has cost lately, or NOBODY."""
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
        """Ends a turn. What begins now is done in the next one."""
        self._is_begun = False
        if not self._waiting:
            return
        is_short = perf_counter() - self._began < LONG_SECONDS
        self._at_once = min(self._at_once + 1, MOST_AT_ONCE) if is_short else max(self._at_once // 2, 1)
        begun = 0
        while self._waiting and begun < self._at_once:
            _, _, turn = heappop(self._waiting)
            if not turn.done():  # else its client has left
                turn.set_result(None)
                begun += 1
        if self._waiting:
            self._begin(perf_counter())
