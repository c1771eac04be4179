"""Countdowns of equal length that share one timer, because the countdown that begins first also ends first. HTTP
requests and idle connections use countdowns.

`asyncio.timeout` would set a separate timer for each deadline. Setting a timer takes half as long as signing a
webhook delivery.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Countdowns(Generic[Item]):
    """A set of countdowns, one for each item. When a countdown has run for `seconds`, `is_over` is called with the
    item. `end` stops a countdown, and then `is_over` is not called.
    """

    def __init__(self, seconds: float, is_over: Callable[[Item], None]) -> None:
        self.seconds = seconds
        self._is_over = is_over
        self._until: dict[Item, float] = {}
        """For each item, the time when its countdown ends, on the clock of the event loop."""
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
        self._until[item] = until  # set last, so that the countdown has not begun if the timer could not be set

    def end(self, item: Item) -> None:
        self._until.pop(item, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call `is_over` for each finished countdown, and set the timer for the next one."""
        self._timer = None
        while self._until:
            first, until = next(iter(self._until.items()))
            if until > loop.time():
                self._timer = loop.call_at(until, self._look, loop)
                return
            del self._until[first]
            self._is_over(first)


class Deadline:
    """A context manager like `asyncio.timeout`: it cancels the work inside when the time is over, and raises
    TimeoutError. If other code has cancelled the task too, it raises CancelledError instead.

    `running` measures the time. Its `is_over` must call `pass_by`.
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
        """Cancel the task, because the time is over."""
        self.has_passed = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.end(self)
        if self.has_passed and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
