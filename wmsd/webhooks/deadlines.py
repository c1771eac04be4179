"""A deadline for each of many attempts, and one timer for all: equally long, the first to begin ends first.

`asyncio.timeout` sets a timer for each, which takes longer than the signatures of a delivery.
"""

import asyncio
from types import TracebackType


class Deadlines:
    """`with deadlines.new():` in a task gives what is done there so many seconds."""

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
        self._running[deadline] = None  # last: if there can be no timer, it has not begun

    def end(self, deadline: "Deadline") -> None:
        self._running.pop(deadline, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends those that are over, and comes again for the next; while nothing runs there is no timer."""
        self._timer = None
        while self._running:
            first = next(iter(self._running))
            if first.at > loop.time():
                self._timer = loop.call_at(first.at, self._look, loop)
                return
            del self._running[first]
            first.pass_by()


class Deadline:
    """As `asyncio.timeout`: when it has passed it ends in a TimeoutError, unless others cancel the task too."""

    __slots__ = ("_cancelling", "_deadlines", "_task", "at", "has_passed")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self.at = 0.0
        """By the loop's clock."""
        self.has_passed = False

    def __enter__(self) -> "Deadline":
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._deadlines.begin(self, task.get_loop())
        return self

    def pass_by(self) -> None:
        """Whatever the task waits for, it waits no longer."""
        self.has_passed = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deadlines.end(self)
        if self.has_passed and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
