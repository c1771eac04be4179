"""Limits the attempts of webhooks: how many are under way at a time, and how many begin in a moment.

Under way: in total, of one company, and from it to one host. Those whose receiver has just answered have a share
of their own, so that they never wait for receivers that hang.
"""

import asyncio
import time
from asyncio import Semaphore
from collections.abc import Callable
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

IN_TOTAL: Final = 128
PER_COMPANY: Final = 64
"""So that the receivers of one company, all of them hanging, leave room for those of another."""
PER_HOST: Final = 16
"""Of a company: another may have a receiver at the same host. Of each share, as all of these."""
PER_SUBSCRIPTION: Final = 16
MOMENT_SECONDS: Final = 0.05
BUSY_REQUESTS: Final = 5
"""So many in a moment, 100 a second, keep the service busy."""
PROVEN_WHILE_BUSY: Final = 4
UNPROVEN: Final = 10
UNPROVEN_WHILE_BUSY: Final = 1


class Lane(NamedTuple):
    """The attempts that share all three limits. `is_proven`: whether the receiver has just answered."""

    is_proven: bool
    company_id: int
    host: str


class Slot(list[Semaphore]):
    """One of each limit, once it is taken. An `ExitStack` would do, but for 2 µs more with each delivery."""

    def close(self) -> None:
        """Gives them back."""
        while self:
            self.pop().release()


class ConcurrencyLimits:
    def __init__(self) -> None:
        self._in_total = {is_proven: Semaphore(IN_TOTAL) for is_proven in (True, False)}
        self._of_company: WeakValueDictionary[tuple[bool, int], Semaphore] = WeakValueDictionary()
        self._of_host: WeakValueDictionary[Lane, Semaphore] = WeakValueDictionary()
        """As long as somebody holds them or waits for them."""

    async def take(self, slot: Slot, lane: Lane) -> None:
        """Waits for one of each limit, which closing the slot gives back; first come, first served. Who waits for
        its own host takes nothing from others: the narrowest limit is the first.
        """
        company = lane.is_proven, lane.company_id
        for limit in (
            self._of_host.get(lane) or self._of_host.setdefault(lane, Semaphore(PER_HOST)),
            self._of_company.get(company) or self._of_company.setdefault(company, Semaphore(PER_COMPANY)),
            self._in_total[lane.is_proven],
        ):
            await limit.acquire()
            slot.append(limit)


class Throttle:
    """`answered` tells how many requests there have been. Proven are attempts whose receiver has just answered."""

    def __init__(self, answered: Callable[[], int], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._answered = answered
        self._monotonic = monotonic
        self._is_busy = False
        self._turns = {is_proven: asyncio.Lock() for is_proven in (True, False)}
        self._begin_moment()

    @property
    def is_busy(self) -> bool:
        """Whether requests have kept the service busy of late."""
        self._look()
        return self._is_busy

    async def turn(self, is_proven: bool) -> None:
        """Waits for the moment in which one more may begin; first come, first served."""
        async with self._turns[is_proven]:
            while not self.may_begin(is_proven):  # noqa: ASYNC110  # a moment ends by itself
                await asyncio.sleep(MOMENT_SECONDS)
            self.begin(is_proven)

    def may_begin(self, is_proven: bool) -> bool:
        """Whether one more may begin now."""
        self._look()
        if is_proven:
            return not self._is_busy or self._begun[True] < PROVEN_WHILE_BUSY
        return self._begun[False] < (UNPROVEN_WHILE_BUSY if self._is_busy else UNPROVEN)

    def begin(self, is_proven: bool) -> None:
        self._begun[is_proven] += 1

    def _look(self) -> None:
        moments = (self._monotonic() - self._began) / MOMENT_SECONDS
        if moments >= 1:
            self._is_busy = self._answered() - self._answered_before >= BUSY_REQUESTS * moments
            self._begin_moment()

    def _begin_moment(self) -> None:
        self._began = self._monotonic()
        self._answered_before = self._answered()
        self._begun = {True: 0, False: 0}
