"""How many attempts are under way at a time: in total, of one company, and from it to one host.

Those whose receiver has just answered have a share of their own, so that they never wait for receivers that hang.
"""

from asyncio import Semaphore
from contextlib import ExitStack
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

IN_TOTAL: Final = 128
PER_COMPANY: Final = 64
"""So that the receivers of one company, all of them hanging, leave room for those of another."""
PER_HOST: Final = 16
"""Of a company: another may have a receiver at the same host. Of each share, as all of these."""
PER_SUBSCRIPTION: Final = 16


class Lane(NamedTuple):
    """The attempts that share all three limits. `is_proven`: whether the receiver has just answered."""

    is_proven: bool
    company_id: int
    host: str


class ConcurrencyLimits:
    def __init__(self) -> None:
        self._in_total = {is_proven: Semaphore(IN_TOTAL) for is_proven in (True, False)}
        self._of_company: WeakValueDictionary[tuple[bool, int], Semaphore] = WeakValueDictionary()
        self._of_host: WeakValueDictionary[Lane, Semaphore] = WeakValueDictionary()
        """As long as somebody holds them or waits for them."""
        self.waiting = 0
        """How many wait for a slot."""

    async def slot(self, lane: Lane) -> ExitStack:
        """Waits for it, first come, first served. Closing the stack gives it back.

        The narrowest limit comes first: who waits for its own host takes nothing from others.
        """
        limits = (
            self._of_host.setdefault(lane, Semaphore(PER_HOST)),
            self._of_company.setdefault((lane.is_proven, lane.company_id), Semaphore(PER_COMPANY)),
            self._in_total[lane.is_proven],
        )
        self.waiting += 1
        try:
            with ExitStack() as slot:
                for limit in limits:
                    await limit.acquire()
                    slot.callback(limit.release)
                return slot.pop_all()
        finally:
            self.waiting -= 1
