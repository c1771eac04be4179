"""Limits work that can be large, depending on the request: downloads, searches of the guide, event streams.

Each request with such work needs a turn: the permission to run now. For each kind of work, two numbers of
simultaneous turns are limited: the total, and the number for each payer. A payer is a company, a person, or an
address. The next turn goes to the waiting payer with the lowest recent cost. So a payer with many requests does
not delay the others. All turns of a kind together use a limited share of the processor.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, Literal, NamedTuple

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import unavailable
from wmsd.dispatch.limits.costs import Costs, Payer, Payers

WorkKind = Literal["download", "search", "search in all companies", "stream"]


class Bound(NamedTuple):
    """The limits of one kind of work.

    - `at_once` requests may run at the same time.
    - `each` limits the running requests of one payer, by kind of payer: a company, a person or an address. A kind
      of payer without an entry has no limit of its own.
    - `waiting` requests may wait, each for `patience` seconds.
    - `share` is the part of the processor that all running requests together may use.
    """

    what: str
    """A plural noun that says what is limited. The error message contains it."""
    at_once: int
    each: Mapping[Payer, int]
    waiting: int = 0
    patience: float = 20.0
    share: float = 1.0


BOUNDS: Final[Mapping[WorkKind, Bound]] = {
    "download": Bound("downloads", 4, {"company": 2, "person": 1}, waiting=100, share=0.4),
    "search": Bound("searches", 1, {}, waiting=16, patience=5.0, share=0.2),
    "search in all companies": Bound("searches", 2, {"person": 1}, waiting=16, patience=5.0, share=0.2),
    "stream": Bound("open pages", 1000, {"person": 24}),
}
MOST_WAITING_OF_ONE: Final = 8
"""The maximum number of waiting requests of one payer: a company, a person or an address."""


@dataclass(slots=True)
class Turn:
    """The permission to run one request, from the start of its work to the end."""

    kind: "_Kind"
    payers: Payers

    async def pay(self, seconds: float, size: int = 0) -> None:
        """Charge a piece of the work, and wait until the next piece may start. `seconds` is processor time. `size`
        is the number of bytes sent.
        """
        self.charge(seconds, size)
        await self.kind.rest()

    def charge(self, seconds: float, size: int = 0) -> None:
        self.kind.charge(self.payers, seconds, size)


class WorkAdmission:
    def __init__(self, clock: Clock, costs: Costs) -> None:
        self.costs = costs
        self._kinds = {kind: _Kind(bound, clock, costs) for kind, bound in BOUNDS.items()}

    @asynccontextmanager
    async def turn(self, kind: WorkKind, payers: Payers) -> AsyncIterator[Turn]:
        """Wait until the request may run. Its turn ends when this context ends. Raise Problem (503) if too many
        requests already wait, or if the wait is too long.
        """
        of_kind = self._kinds[kind]
        await of_kind.begin(payers)
        try:
            yield Turn(of_kind, payers)
        finally:
            of_kind.end(payers)

    def under_way(self, kind: WorkKind) -> int:
        return self._kinds[kind].under_way


class _Waiting(NamedTuple):
    payers: Payers
    turn: "asyncio.Future[None]"


class _Kind:
    """Runs the requests of one kind of work, or makes them wait for their turn."""

    def __init__(self, bound: Bound, clock: Clock, costs: Costs) -> None:
        self._bound = bound
        self._clock = clock
        self._costs = costs
        self.under_way = 0
        self._of_payers: Counter[tuple[Payer, str]] = Counter()
        self._waiting: list[_Waiting] = []
        self._rests_until = 0.0

    async def begin(self, payers: Payers) -> None:
        if self._is_free_for(payers):
            self._take(payers)
        else:
            await self._wait(payers)
        try:
            await self.rest()
        except BaseException:
            self.end(payers)
            raise

    def end(self, payers: Payers) -> None:
        self.under_way -= 1
        self._of_payers -= Counter(payers.each())
        self._waiting.sort(key=lambda each: self._costs.of(each.payers))
        for each in self._waiting:
            if self._is_free_for(each.payers) and not each.turn.done():
                self._take(each.payers)
                each.turn.set_result(None)

    def charge(self, payers: Payers, seconds: float, size: int) -> None:
        self._costs.charge(payers, seconds, size)
        now = self._clock.monotonic()
        self._rests_until = max(self._rests_until, now) + seconds * (1 / self._bound.share - 1)

    async def rest(self) -> None:
        """Pause, so that wmsd can do other work. All running requests of this kind of work end their pause at the
        same time.
        """
        await asyncio.sleep(max(0.0, self._rests_until - self._clock.monotonic()))

    def _is_free_for(self, payers: Payers) -> bool:
        return self.under_way < self._bound.at_once and all(
            self._of_payers[payer] < self._bound.each.get(payer[0], self._bound.at_once) for payer in payers.each()
        )

    def _take(self, payers: Payers) -> None:
        self.under_way += 1
        self._of_payers.update(payers.each())

    async def _wait(self, payers: Payers) -> None:
        own = sum(not set(payers.each()).isdisjoint(each.payers.each()) for each in self._waiting)
        if len(self._waiting) >= self._bound.waiting or own >= MOST_WAITING_OF_ONE:
            raise self._refusal()
        waiting = _Waiting(payers, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(self._bound.patience):
                await waiting.turn
        except BaseException as error:
            if waiting.turn.done() and not waiting.turn.cancelled():
                self.end(payers)  # the turn came at the same moment as the error
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise
        finally:
            self._waiting.remove(waiting)

    def _refusal(self) -> Exception:
        return unavailable(f"Too many {self._bound.what} at the same time. Try again in a few seconds.")
