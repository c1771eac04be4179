"""Countdowns that are all equally long, with one timer for all: the first to begin is the first to be over.
Attempts and idle connections end by them.

`asyncio.timeout` sets a timer for each, which takes half as long as signing a delivery.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Countdowns(Generic[Item]):
    """Calls `is_over` with an item when so many seconds have passed since it began, unless it ended before."""

    def __init__(self, seconds: float, is_over: Callable[[Item], None]) -> None:
        self.seconds = seconds
        self._is_over = is_over
        self._until: dict[Item, float] = {}
        """By the loop's clock."""
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._until)

    def __contains__(self, item: Item) -> bool:
        return item in self._until

    def begin(self, item: Item) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(until, self._look, loop)
        self._until[item] = until  # last: if the timer could not be set, it has not begun

    def end(self, item: Item) -> None:
        self._until.pop(item, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends the countdowns that are over, and sets the timer for the next, if there is one."""
        self._timer = None
        while self._until:
            first, until = next(iter(self._until.items()))
            if until > loop.time():
                self._timer = loop.call_at(until, self._look, loop)
                return
            del self._until[first]
            self._is_over(first)


class Deadline:
    """Like `asyncio.timeout`: once it has passed, it raises TimeoutError, unless others cancel the task too.

    Its countdown is among those that `running` has, which call `pass_by`.
    """

    __slots__ = ("_cancelling", "_running", "_task", "has_passed")

    def __init__(self, running: "Countdowns[Deadline]") -> None:
        self._running = running
        self.has_passed = False

    def __enter__(self) -> "Deadline":
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._running.begin(self)
        return self

    def pass_by(self) -> None:
        """Cancels whatever the task waits for."""
        self.has_passed = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.end(self)
        if self.has_passed and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
