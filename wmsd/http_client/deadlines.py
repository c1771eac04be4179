"""A deadline for each attempt, and one timer for all. All deadlines are equally long, so the first to begin ends
first.

`asyncio.timeout` sets a timer for each, which takes longer than signing a delivery.
"""

import asyncio
from types import TracebackType


class Deadlines:
    """Limits the time of what a task does within `with deadlines.new():`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._running: dict[Deadline, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def new(self) -> "Deadline":
        return Deadline(self)

    def begin(self, deadline: "Deadline", loop: asyncio.AbstractEventLoop) -> None:
        deadline.at = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(deadline.at, self._look, loop)
        self._running[deadline] = None  # last: if the timer could not be set, it has not begun

    def end(self, deadline: "Deadline") -> None:
        self._running.pop(deadline, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends the deadlines that have passed, and sets the timer for the next, if there is one."""
        self._timer = None
        while self._running:
            first = next(iter(self._running))
            if first.at > loop.time():
                self._timer = loop.call_at(first.at, self._look, loop)
                return
            del self._running[first]
            first.pass_by()


class Deadline:
    """Like `asyncio.timeout`: once it has passed, it raises TimeoutError, unless others cancel the task too."""

    __slots__ = ("_cancelling", "_deadlines", "_task", "at", "has_passed")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self.at = 0.0
        """On the loop's clock."""
        self.has_passed = False

    def __enter__(self) -> "Deadline":
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._deadlines.begin(self, task.get_loop())
        return self

    def pass_by(self) -> None:
        """Cancels whatever the task waits for."""
        self.has_passed = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deadlines.end(self)
        if self.has_passed and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
