"""Limits the attempts of webhooks: how many run at the same time, and how many begin within 50 ms.

The number of running attempts is limited in total, for each company, and for each company and host. Subscriptions
whose last attempt succeeded have a separate share, so that they never wait for receivers that do not answer.
"""

import asyncio
import time
from asyncio import Semaphore
from collections.abc import Callable
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

IN_TOTAL: Final = 128
PER_COMPANY: Final = 64
"""The limit of a company. If all receivers of one company hang, there is still room for other companies."""
PER_HOST: Final = 16
"""The limit of a company at one host; other companies have separate limits at the same host. All limits here apply
to each share separately.
"""
PER_SUBSCRIPTION: Final = 16
MOMENT_SECONDS: Final = 0.05
BUSY_REQUESTS: Final = 5
"""The number of requests in 50 ms from which on the service counts as busy: 100 per second."""
PROVEN_WHILE_BUSY: Final = 4
UNPROVEN: Final = 10
UNPROVEN_WHILE_BUSY: Final = 1
"""The most attempts that may begin within 50 ms. PROVEN_WHILE_BUSY is for reliable attempts (see `Throttle`),
whose number is not limited while the service is not busy. The other two numbers are for all other attempts.
"""


class Lane(NamedTuple):
    """A group of attempts that share the same limits: in total, of the company, and of the host. `is_reliable` is
    True if the subscription's last attempt succeeded.
    """

    is_reliable: bool
    company_id: int
    host: str


class Slot(list[Semaphore]):
    """The acquired limits of an attempt. An `ExitStack` would take 2 µs longer for each delivery."""

    def close(self) -> None:
        """Release the limits."""
        while self:
            self.pop().release()


class ConcurrencyLimits:
    def __init__(self) -> None:
        self._in_total = {is_reliable: Semaphore(IN_TOTAL) for is_reliable in (True, False)}
        self._of_company: WeakValueDictionary[tuple[bool, int], Semaphore] = WeakValueDictionary()
        self._of_host: WeakValueDictionary[Lane, Semaphore] = WeakValueDictionary()
        """Each limit exists as long as a task holds the limit or waits for it."""

    async def take(self, slot: Slot, lane: Lane) -> None:
        """Wait for a place in each limit, in the order of arrival. Closing the slot releases the places. The
        narrowest limit comes first, so a task that waits for its own host takes no place from others.
        """
        company = lane.is_reliable, lane.company_id
        for limit in (
            self._of_host.get(lane) or self._of_host.setdefault(lane, Semaphore(PER_HOST)),
            self._of_company.get(company) or self._of_company.setdefault(company, Semaphore(PER_COMPANY)),
            self._in_total[lane.is_reliable],
        ):
            await limit.acquire()
            slot.append(limit)


class Throttle:
    """Limits how many attempts begin within a moment of 50 ms. `answered` returns the number of requests that the
    server has answered. An attempt counts as reliable (`is_reliable`) if the last attempt of its subscription
    succeeded.
    """

    def __init__(self, answered: Callable[[], int], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._answered = answered
        self._monotonic = monotonic
        self._is_busy = False
        self._turns = {is_reliable: asyncio.Lock() for is_reliable in (True, False)}
        self._begin_moment()

    @property
    def is_busy(self) -> bool:
        """True if requests have recently kept the service busy."""
        self._look()
        return self._is_busy

    async def turn(self, is_reliable: bool) -> None:
        """Wait until one more attempt may begin, in the order of arrival."""
        async with self._turns[is_reliable]:
            while not self.may_begin(is_reliable):  # noqa: ASYNC110  # a moment ends without an event to wait for
                await asyncio.sleep(MOMENT_SECONDS)
            self.begin(is_reliable)

    def may_begin(self, is_reliable: bool) -> bool:
        """Return True if one more attempt may begin now."""
        self._look()
        if is_reliable:
            return not self._is_busy or self._begun[True] < PROVEN_WHILE_BUSY
        return self._begun[False] < (UNPROVEN_WHILE_BUSY if self._is_busy else UNPROVEN)

    def begin(self, is_reliable: bool) -> None:
        self._begun[is_reliable] += 1

    def _look(self) -> None:
        moments = (self._monotonic() - self._began) / MOMENT_SECONDS
        if moments >= 1:
            self._is_busy = self._answered() - self._answered_before >= BUSY_REQUESTS * moments
            self._begin_moment()

    def _begin_moment(self) -> None:
        self._began = self._monotonic()
        self._answered_before = self._answered()
        self._begun = {True: 0, False: 0}
