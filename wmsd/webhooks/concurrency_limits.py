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
    """One of each limit. Leaving it gives back what it holds."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[Semaphore] = []

    async def take(self, limit: Semaphore) -> None:
        """Waits for it; first come, first served."""
        await limit.acquire()
        self._held.append(limit)

    def take_over(self, other: "Slot") -> None:
        """Holds what the other one has held."""
        self._held, other._held = other._held, []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()

    def give_back(self) -> None:
        while self._held:
            self._held.pop().release()


class ConcurrencyLimits:
    def __init__(self) -> None:
        self._in_total = {is_proven: Semaphore(IN_TOTAL) for is_proven in (True, False)}
        self._of_company: WeakValueDictionary[tuple[bool, int], Semaphore] = WeakValueDictionary()
        self._of_host: WeakValueDictionary[Lane, Semaphore] = WeakValueDictionary()
        """As long as somebody holds them or waits for them."""
        self.waiting = 0
        """How many wait for a slot."""

    async def slot(self, lane: Lane) -> Slot:
        """The narrowest limit comes first: who waits for its own host takes nothing from others."""
        of_company = lane.is_proven, lane.company_id
        self.waiting += 1
        slot = Slot()
        try:
            await slot.take(self._of_host.get(lane) or self._of_host.setdefault(lane, Semaphore(PER_HOST)))
            await slot.take(
                self._of_company.get(of_company) or self._of_company.setdefault(of_company, Semaphore(PER_COMPANY))
            )
            await slot.take(self._in_total[lane.is_proven])
            return slot
        except BaseException:
            slot.give_back()
            raise
        finally:
            self.waiting -= 1
