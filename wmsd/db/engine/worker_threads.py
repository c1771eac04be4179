"""A few threads that serve all connections of many files.

Threads do not grow with companies. A task that takes long, such as an import or a write to a slow disk, holds up
its own connection only: beside the threads that are at long tasks there are always a few, up to a bound.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Protocol, TypeVar

from wmsd.base.machine.thread_results import NO_MEMORY_SECONDS, settle_future
from wmsd.db.engine.read_turns import ReadTurn


class Closing(Protocol):
    def close(self) -> None: ...


Result = TypeVar("Result")
Opened = TypeVar("Opened", bound=Closing)
Task = Callable[[], None]
FEW: Final = 4
MOST: Final = 64
LONG_SECONDS: Final = 0.02
"""After which a task counts as long."""


class WorkerThreads:
    """`few` threads stay once they were needed. `most` bounds how many long tasks run at once."""

    def __init__(self, name: str, few: int = FEW, most: int = MOST) -> None:
        self._name = name
        self._few = few
        self._most = most
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0
        self._idle = 0
        self._began: dict[int, float] = {}
        """When each task under way began, by the number of its thread."""
        self._is_looking = False
        self._is_closed = False

    @property
    def count(self) -> int:
        return self._count

    @property
    def is_wanted(self) -> bool:
        """Whether a task waits for a thread."""
        return not self._tasks.empty()

    def start(self) -> None:
        """Starts the first thread, so that there is one when no other can be started. Raises RuntimeError."""
        if not self._count:
            self._add()

    def post(self, task: Task) -> None:
        """From the loop. Raises RuntimeError when there is no thread and can be none."""
        self._is_closed = False
        if self._tasks.qsize() >= self._idle and self._count < self._wanted():
            self._add()
        self._look_later()  # a thread that has just taken another task may have been taken for idle
        self._tasks.put(task)  # last: whatever fails before, the task is not done

    def post_again(self, task: Task) -> None:
        """From a worker, which is about to be free."""
        self._tasks.put(task)

    def _wanted(self) -> int:
        """How many threads there should be: a few, beside those that are at long tasks."""
        long_ago = time.monotonic() - LONG_SECONDS
        with self._lock:
            at_long_tasks = sum(began < long_ago for began in self._began.values())
        return min(self._few + at_long_tasks, self._most)

    def _look_later(self) -> None:
        if not self._is_looking:
            asyncio.get_running_loop().call_later(LONG_SECONDS, self._look)
            self._is_looking = True

    def _look(self) -> None:
        """Adds threads when tasks still wait, and no thread is free."""
        self._is_looking = False
        if self._is_closed or self._tasks.empty():
            return
        if not self._idle:
            for _ in range(min(self._tasks.qsize(), self._wanted() - self._count)):
                self._add()
        self._look_later()

    def _add(self) -> None:
        """Without a further thread, those that there are go on. Raises RuntimeError when there is none."""
        # A daemon, so that a process which fails before it has closed everything can still end.
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        with self._lock:
            self._count += 1
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            with self._lock:
                self._count -= 1
                is_alone = not self._count
            if is_alone:
                raise

    def _work(self) -> None:
        """What it does for itself is done again when there was no memory for it, so that no task is lost."""
        is_last = False
        while not is_last:
            _run_whole(self._is_idle)
            task = self._tasks.get()
            _run_whole(self._begin)
            if task is not None:
                _run_whole(task)
            _run_whole(self._end)
            is_last = task is None or (self._tasks.empty() and self._count > self._few and self._are_too_many())
            del task  # what it holds is not held while the thread waits
        with self._lock:
            self._count -= 1

    def _is_idle(self) -> None:
        with self._lock:
            self._idle += 1

    def _begin(self) -> None:
        with self._lock:
            self._began[threading.get_ident()] = time.monotonic()
            self._idle -= 1

    def _end(self) -> None:
        with self._lock:
            self._began.pop(threading.get_ident(), None)

    def _are_too_many(self) -> bool:
        try:
            return self._count > self._wanted()
        except MemoryError:
            return False

    async def run(self, function: Callable[[], Result]) -> Result:
        """The function's result, from a worker. It runs to its end even if nobody waits any more."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.post(partial(settle_future, future, function))
        return await future

    async def open(self, connect: Callable[[], Opened]) -> Opened:
        """As `run`. What was opened for somebody who does not wait any more is closed."""
        opening = asyncio.ensure_future(self.run(connect))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._close_unwanted)
            raise

    def _close_unwanted(self, opening: "asyncio.Future[Any]") -> None:
        if not opening.cancelled() and opening.exception() is None:
            self.post(opening.result().close)

    def close(self) -> None:
        """Ends the threads when their tasks are done. A further task begins anew."""
        self._is_closed = True
        for _ in range(self._count):
            self._tasks.put(None)


class Workers:
    """The threads of many files, where commits, which wait for the disk, hold up no reads; `turn` is for the reads
    that need no thread.
    """

    def __init__(self) -> None:
        self.turn = ReadTurn()
        self.writers = WorkerThreads("wmsd-writer")
        self.readers = WorkerThreads("wmsd-reader")

    def start(self) -> None:
        self.writers.start()
        self.readers.start()

    def close(self) -> None:
        self.writers.close()
        self.readers.close()


def _run_whole(task: Task) -> None:
    """A task tells its end itself. One that could not begin for want of memory begins as soon as there is some."""
    while True:
        try:
            task()
        except MemoryError:
            time.sleep(NO_MEMORY_SECONDS)
        else:
            return
