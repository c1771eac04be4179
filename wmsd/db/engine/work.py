"""A unit of work of a file, and what runs groups of units."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from wmsd.base.dataclass import dataclass
from wmsd.contract.context import Actor
from wmsd.db.engine.loop_connection import LoopConnection
from wmsd.db.engine.sqlite import sqlite3

MOST_TRIES: Final = 20
LOOK_SECONDS: Final = 0.05
"""How often, in seconds, wmsd tries again after a shortage, and checks whether to interrupt the running read."""


@dataclass(slots=True)
class Work:
    """A unit of work, and the future for which its caller waits. After the work has run, `result` or `error` is
    set.
    """

    action: Callable[[Any], Any]
    actor: Actor
    future: "asyncio.Future[Any]"
    until: float = math.inf
    """The monotonic time at which the work is interrupted, if it is a read."""
    is_quiet: bool = False
    """True if the database need not call `after_commit` for this work."""
    may_repeat: bool = False
    """True if the action may run twice: it has no effect except its changes of the file and its result."""
    refused: BaseException | None = None
    """The error that prevented a thread from running the work, if it is a read that now has its last try."""
    result: Any = None
    error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """True if the time limit has passed, or if the caller has stopped waiting."""
        return self.future.cancelled() or time.monotonic() > self.until

    def settle(self) -> None:
        """Set the result or the error in the future, unless the caller has stopped waiting."""
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.result)
        elif isinstance(self.error, StopIteration):  # a future does not accept StopIteration
            self.future.set_exception(RuntimeError("an iterator ended too soon"))
        else:
            self.future.set_exception(self.error)


GroupRunner = Callable[[sqlite3.Connection, list[Work]], None]


class GroupOnLoop(Protocol):
    """Runs a group of writes on the event loop, up to its commit."""

    def run(self, connection: LoopConnection, waiting: Sequence[Work]) -> list[Work]:
        """Run the first units of work that wait, and return them. If they have changed the file, their transaction
        is still open.

        If the list is empty, nothing has happened, and a thread must run the group. This method raises nothing.
        """

    def undo(self, connection: sqlite3.Connection, group: list[Work]) -> None:
        """Roll the group back, so that it can run again."""

    def commit(self, connection: sqlite3.Connection) -> None:
        """Commit the open transaction. Any thread may call this. If it raises an error, all units of the group
        have failed.
        """


class RunningRead:
    """The read that a thread is running.

    While SQLite executes a step of the read, only another thread can interrupt it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: Work | None = None

    def begin(self, work: Work) -> None:
        with self._lock:
            self._work = work

    def end(self) -> None:
        with self._lock:
            self._work = None

    def break_off_if_over(self, connection: sqlite3.Connection) -> None:
        """Interrupt the read if its time limit has passed, or if its caller has stopped waiting.

        The lock ensures that this does not interrupt the next read by mistake.
        """
        with self._lock:
            if self._work is not None and self._work.is_over:
                connection.interrupt()


def settle_work(work: Work) -> None:
    """Pass the result to the waiting caller. Call this on the event loop. If memory is short, try again a few
    times.
    """
    for _ in range(MOST_TRIES):
        try:
            work.settle()
        except MemoryError:
            time.sleep(LOOK_SECONDS)
        else:
            return


def fail_group(group: list[Work], error: BaseException) -> None:
    for work in group:
        work.error = work.error or error
