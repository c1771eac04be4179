"""A few threads that run the tasks for the connections of many files.

The number of threads does not grow with the number of companies. A long task, such as an import or a write to a
slow disk, delays only its own connection. To achieve this, wmsd starts an additional thread for each long task, up
to a limit.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Final, Protocol, TypeVar

from wmsd.base.machine.thread_results import NO_MEMORY_SECONDS, settle_future
from wmsd.db.engine.loop_turns import ReadTurn, TurnBudget


class Closing(Protocol):
    def close(self) -> None: ...


Result = TypeVar("Result")
Opened = TypeVar("Opened", bound=Closing)
Task = Callable[[], None]
FEW: Final = 4
MOST: Final = 64
LONG_SECONDS: Final = 0.02
"""The seconds after which a task counts as long."""


class WorkerThreads:
    """A pool of threads. Up to `few` idle threads stay alive. There are at most `most` threads."""

    def __init__(self, name: str, few: int = FEW, most: int = MOST) -> None:
        self._name = name
        self._few = few
        self._most = most
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0
        self._idle = 0
        self._began: dict[int, float] = {}
        """The time at which each thread started its present task. The key is the id of the thread."""
        self._is_looking = False
        self._is_closed = False

    @property
    def count(self) -> int:
        return self._count

    @property
    def is_wanted(self) -> bool:
        """True if a task is waiting for a thread."""
        return not self._tasks.empty()

    def start(self) -> None:
        """Start the first thread now, because later a shortage may prevent the start. Raise RuntimeError if the
        thread cannot be started.
        """
        if not self._count:
            self._add()

    def post(self, task: Task) -> None:
        """Add a task. Call this on the event loop. Raise RuntimeError if there is no thread and no thread can be
        started.
        """
        self._is_closed = False
        if self._tasks.qsize() >= self._idle and self._count < self._wanted():
            self._add()
        self._look_later()  # a thread that has just taken another task may have been counted as idle
        self._tasks.put(task)  # last: if something fails before, the task is not done

    def post_again(self, task: Task) -> None:
        """Add a task without starting a thread. Only a task of this pool calls this, because its own thread is
        free soon.
        """
        self._tasks.put(task)

    def _wanted(self) -> int:
        """Return how many threads there should be: `few`, plus one for each running long task, but
        at most `most`.
        """
        long_ago = time.monotonic() - LONG_SECONDS
        with self._lock:
            at_long_tasks = sum(began < long_ago for began in self._began.values())
        return min(self._few + at_long_tasks, self._most)

    def _look_later(self) -> None:
        if not self._is_looking:
            asyncio.get_running_loop().call_later(LONG_SECONDS, self._look)
            self._is_looking = True

    def _look(self) -> None:
        """Start more threads if tasks are waiting and no thread is idle. Check again later."""
        self._is_looking = False
        if self._is_closed or self._tasks.empty():
            return
        if not self._idle:
            for _ in range(min(self._tasks.qsize(), self._wanted() - self._count)):
                self._add()
        self._look_later()

    def _add(self) -> None:
        """Start a thread.

        If that fails, continue with the existing threads. Raise RuntimeError if there are none.
        """
        # A daemon thread: a process that fails before it has closed everything can still end.
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
        """Run tasks until there are too many threads.

        Steps that fail for lack of memory are repeated, so that no task is lost.
        """
        is_last = False
        while not is_last:
            _run_with_retries(self._is_idle)
            task = self._tasks.get()
            _run_with_retries(self._begin)
            if task is not None:
                _run_with_retries(task)
            _run_with_retries(self._end)
            is_last = task is None or (self._tasks.empty() and self._count > self._few and self._are_too_many())
            del task  # frees the objects of the task while the thread waits
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
        """Run the function on a worker, and return its result.

        If the caller is cancelled, the function still runs to its end.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.post(partial(settle_future, future, function))
        return await future

    async def open(self, connect: Callable[[], Opened]) -> Opened:
        """Open a connection on a worker, and return it.

        If the caller is cancelled, first wait for the opening to finish, and close the connection. Otherwise the
        caller would release its locks while a connection to its file is still open.
        """
        opening = asyncio.ensure_future(self.run(connect))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            await _finish(asyncio.ensure_future(self._close_opened(opening)))
            raise

    async def _close_opened(self, opening: "asyncio.Future[Opened]") -> None:
        with suppress(Exception):  # the caller does not wait for the connection, so it needs no error either
            await self.run((await opening).close)

    def close(self) -> None:
        """Stop the threads when their tasks are done. A later task starts new threads."""
        self._is_closed = True
        for _ in range(self._count):
            self._tasks.put(None)


class Workers:
    """The worker threads that many files share.

    Writes have separate threads, because commits wait for the disk and would delay reads. `turn` is shared by the
    inline readers of all files, and `write_turn` by their writers.
    """

    def __init__(self) -> None:
        self.turn = ReadTurn()
        self.write_turn = TurnBudget()
        self.writers = WorkerThreads("wmsd-writer")
        self.readers = WorkerThreads("wmsd-reader")

    def start(self) -> None:
        self.writers.start()
        self.readers.start()

    def close(self) -> None:
        self.writers.close()
        self.readers.close()


async def _finish(task: "asyncio.Future[None]") -> None:
    """Wait until the task is done, even if the caller is cancelled again."""
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])


def _run_with_retries(task: Task) -> None:
    """Run the task. If it cannot start because memory is short, wait and try again.

    The task itself gives its result to its caller.
    """
    while True:
        try:
            task()
        except MemoryError:
            time.sleep(NO_MEMORY_SECONDS)
        else:
            return
