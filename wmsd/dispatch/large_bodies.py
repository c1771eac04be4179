"""Large request bodies: limits how many bytes of them are held, and reads them on threads.

Reading a megabyte of JSON takes a tenth of a second or more, and a company may send as many as its limit allows.
So threads read them beside the event loop, one body of a company at a time. A company that has sent more than its
share must wait for its own answers first.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import unavailable

Result = TypeVar("Result")
LARGE: Final = 16 * 1024
"""Bytes. A smaller body is read at once: a thread would take as long."""
MEBIBYTE: Final = 1024 * 1024
AT_ONCE: Final = 4


@dataclass(slots=True)
class ByteBudget:
    """A company may always hold `fair` bytes, so that the other companies cannot shut it out."""

    of_a_company: int
    in_all: int
    fair: int
    what: str
    """What is held, in the plural, for the sentence of a refusal."""
    _held: Counter[str] = field(default_factory=Counter)

    def hold(self, company: str, size: int) -> None:
        """Counts more bytes. Raises Problem (503) beyond a bound, and counts nothing then."""
        own = self._held[company] + size
        if own > self.of_a_company or (own > self.fair and self._held.total() + size > self.in_all):
            raise unavailable(f"Too many {self.what} are under way; send them one after the other.", 2)
        self._held[company] = own

    def count(self, company: str, size: int) -> None:
        """Counts bytes that are held already, so it never refuses."""
        self._held[company] += size

    def release(self, company: str, size: int) -> None:
        self._held[company] -= size
        if not self._held[company]:
            del self._held[company]

    def held(self) -> int:
        """The bytes of all companies together."""
        return self._held.total()


class LargeBodies:
    def __init__(self) -> None:
        self.budget = ByteBudget(16 * MEBIBYTE, 64 * MEBIBYTE, MEBIBYTE, "large requests")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._threads: ThreadPoolExecutor | None = None

    async def run(self, company: str, work: Callable[[], Result]) -> Result:
        """Runs long work on a thread. When the waiter is cancelled, work that has begun still runs to its end."""
        is_wanted = True
        running = asyncio.ensure_future(self._in_turn(company, work, lambda: is_wanted))
        running.add_done_callback(_noticed)
        try:
            return await asyncio.shield(running)
        finally:
            is_wanted = False

    async def _in_turn(self, company: str, work: Callable[[], Result], is_wanted: Callable[[], bool]) -> Result:
        turn = self._turns.get(company) or self._turns.setdefault(company, asyncio.Lock())
        async with turn:
            if not is_wanted():
                raise asyncio.CancelledError
            return await asyncio.get_running_loop().run_in_executor(self._pool(), work)

    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(AT_ONCE, "wmsd-body")
        return self._threads


def _noticed(running: "asyncio.Task[Any]") -> None:
    """Retrieves an error that nobody waits for any more, so that asyncio does not log it."""
    if not running.cancelled():
        running.exception()
