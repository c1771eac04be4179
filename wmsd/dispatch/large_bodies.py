"""Limits how much memory large request bodies use, and decodes them on threads.

Decoding a megabyte of JSON takes at least a tenth of a second, and a company may send many such bodies. Therefore
threads decode large bodies outside the event loop, one body of a company at a time. A request is refused if its
company already has more than its share of bytes in memory.
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
"""A body of at least this many bytes counts as large. Smaller bodies are decoded on the event loop, because using
a thread would take as long as decoding them.
"""
MEBIBYTE: Final = 1024 * 1024
AT_ONCE: Final = 4


@dataclass(slots=True)
class ByteBudget:
    """Limits how many bytes companies have in memory at the same time.

    `of_a_company` is the limit of each company, and `in_all` the limit of all companies together. A company may
    always have `fair` bytes, even if the other companies have used up `in_all`.
    """

    of_a_company: int
    in_all: int
    fair: int
    what: str
    """A plural noun that says what is limited. The error message contains it."""
    _held: Counter[str] = field(default_factory=Counter)

    def hold(self, company: str, size: int) -> None:
        """Count `size` more bytes of the company. If this exceeds a limit, do not count them, and raise Problem
        (503).
        """
        own = self._held[company] + size
        if own > self.of_a_company or (own > self.fair and self._held.total() + size > self.in_all):
            raise unavailable(f"Too many {self.what} at the same time; send them one after the other.", 2)
        self._held[company] = own

    def count(self, company: str, size: int) -> None:
        """Count `size` more bytes of the company, even if this exceeds a limit. Use this for bytes that are
        already in memory.
        """
        self._held[company] += size

    def release(self, company: str, size: int) -> None:
        self._held[company] -= size
        if not self._held[company]:
            del self._held[company]

    def held(self) -> int:
        """Return how many bytes all companies together have in memory."""
        return self._held.total()


class LargeBodies:
    def __init__(self) -> None:
        self.budget = ByteBudget(16 * MEBIBYTE, 64 * MEBIBYTE, MEBIBYTE, "large requests")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._threads: ThreadPoolExecutor | None = None

    async def run(self, company: str, work: Callable[[], Result]) -> Result:
        """Run long work on a thread. If the caller is cancelled, work that has started still runs to its end."""
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
    """Retrieve the error of a task for which no caller waits any more, so that asyncio does not log the error."""
    if not running.cancelled():
        running.exception()
