"""How many attempts are under way at a time: in total, of one company, and from it to one host.

Those whose receiver has just answered have a share of their own, so that they never wait for receivers that hang.
"""

from asyncio import Semaphore
from typing import Final, NamedTuple, Self
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


class Slot:
    """One of each limit, once it is taken; leaving it gives it back."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: list[Semaphore] = []

    def give_back(self) -> None:
        while self.held:
            self.held.pop().release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()


class ConcurrencyLimits:
    def __init__(self) -> None:
        self._in_total = {is_proven: Semaphore(IN_TOTAL) for is_proven in (True, False)}
        self._of_company: WeakValueDictionary[tuple[bool, int], Semaphore] = WeakValueDictionary()
        self._of_host: WeakValueDictionary[Lane, Semaphore] = WeakValueDictionary()
        """As long as somebody holds them or waits for them."""

    async def take(self, slot: Slot, lane: Lane) -> None:
        """Waits for it; first come, first served. Who waits for its own host takes nothing from others: the
        narrowest limit is the first.
        """
        company = lane.is_proven, lane.company_id
        for limit in (
            self._of_host.get(lane) or self._of_host.setdefault(lane, Semaphore(PER_HOST)),
            self._of_company.get(company) or self._of_company.setdefault(company, Semaphore(PER_COMPANY)),
            self._in_total[lane.is_proven],
        ):
            await limit.acquire()
            slot.held.append(limit)
