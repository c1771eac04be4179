"""Limits the attempts of webhooks: how many run at the same time, and how many begin within 50 ms.

The number of running attempts is limited in total, for each company, and for each company and host. Subscriptions
whose last attempt succeeded have separate limits, so that they never wait for receivers that do not answer.
"""

import asyncio
import time
from asyncio import Semaphore
from collections.abc import Callable
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

IN_TOTAL: Final = 128
PER_COMPANY: Final = 64
"""The maximum number of running attempts of a company. If all receivers of one company hang, other companies can
still send.
"""
PER_HOST: Final = 16
"""The maximum number of running attempts of a company at one host.

The limits IN_TOTAL, PER_COMPANY and PER_HOST apply separately to reliable attempts (see `Lane`) and to unreliable
ones.
"""
PER_SUBSCRIPTION: Final = 16
MOMENT_SECONDS: Final = 0.05
BUSY_REQUESTS: Final = 5
"""If the server answers at least this many requests in 50 ms (100 per second), it counts as busy."""
PROVEN_WHILE_BUSY: Final = 4
UNPROVEN: Final = 10
UNPROVEN_WHILE_BUSY: Final = 1
"""The maximum number of unreliable attempts that may begin within 50 ms while the server is busy (see `Lane`).

UNPROVEN is the maximum while the server is not busy. PROVEN_WHILE_BUSY is the maximum of reliable attempts. These
are limited only while the server is busy.
"""


class Lane(NamedTuple):
    """A group of attempts that share their limits: they have the same company, host and `is_reliable`.
    `is_reliable` is True if the last attempt of the subscription succeeded.
    """

    is_reliable: bool
    company_id: int
    host: str


class Slot(list[Semaphore]):
    """The limits that an attempt has acquired. An `ExitStack` would take 2 µs longer for each delivery."""

    def close(self) -> None:
        """Release the limits."""
        while self:
            self.pop().release()


class ConcurrencyLimits:
    def __init__(self) -> None:
        self._in_total = {is_reliable: Semaphore(IN_TOTAL) for is_reliable in (True, False)}
        self._of_company: WeakValueDictionary[tuple[bool, int], Semaphore] = WeakValueDictionary()
        self._of_host: WeakValueDictionary[Lane, Semaphore] = WeakValueDictionary()
        """`_of_company` and `_of_host` contain a limit only as long as a task holds it or waits for it."""

    async def take(self, slot: Slot, lane: Lane) -> None:
        """Acquire the limits of `lane` and add them to `slot`. Wait until each limit allows one more attempt, in
        the order of arrival. The attempt counts until `slot` is closed.

        The limit of the host comes first. So a task that waits for its host uses up neither the limit of its
        company nor the total.
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
    """Limits how many attempts begin within 50 ms. `answered` returns the number of requests that the server has
    answered. An attempt is reliable (`is_reliable`) if the last attempt of its subscription succeeded.
    """

    def __init__(self, answered: Callable[[], int], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._answered = answered
        self._monotonic = monotonic
        self._is_busy = False
        self._turns = {is_reliable: asyncio.Lock() for is_reliable in (True, False)}
        self._begin_moment()

    @property
    def is_busy(self) -> bool:
        """True if the server has recently answered many requests."""
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
