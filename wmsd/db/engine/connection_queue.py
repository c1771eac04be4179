"""The work that waits for a connection. It runs on worker threads, one group at a time.

A unit of work is a plain function that runs whole in one hop onto a thread: cancelling its waiter cannot cut it.
What waits while a group runs is taken together, as the next group.

A read leaves nothing behind, so it can be broken off: when its time is over, and when nobody waits for it.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from wmsd.base.dataclass import dataclass
from wmsd.base.machine.thread_results import call_on_loop
from wmsd.contract.context import Actor
from wmsd.db.engine.sqlite import aiosqlite, sqlite3
from wmsd.db.engine.worker_threads import WorkerThreads

Result = TypeVar("Result")
LARGEST_GROUP = 64
LARGEST_READ_GROUP = 8
"""Smaller, so that the first answers are sent while the reader goes on."""
LONG_SECONDS = 0.02
MOST_TRIES = 20
LOOK_SECONDS = 0.05
"""Between two looks whether a read should be broken off."""
ROWS_AT_A_TIME: Final = 64
"""For aiosqlite's own cursors, of which none fetches rows here."""


@dataclass(slots=True)
class Work:
    """One unit of work, its waiter, and in the end its result or error."""

    action: Callable[[Any], Any]
    actor: Actor
    future: "asyncio.Future[Any]"
    until: float = math.inf
    """On the monotonic clock: when a read is broken off."""
    is_quiet: bool = False
    """Whether nobody is told of its commit."""
    result: Any = None
    error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """Whether its time is over, or nobody waits for it."""
        return self.future.cancelled() or time.monotonic() > self.until

    def settle(self) -> None:
        """Tells the waiter, unless it has gone."""
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.result)
        elif isinstance(self.error, StopIteration):  # which no future takes
            self.future.set_exception(RuntimeError("an iterator ended too soon"))
        else:
            self.future.set_exception(self.error)


GroupRunner = Callable[[sqlite3.Connection, list[Work]], None]


class UnderWay:
    """The read that a thread is at. Inside a step of SQLite it can be broken off from outside only."""

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
        """Under the lock, so that it never meets the next one."""
        with self._lock:
            if self._work is not None and self._work.is_over:
                connection.interrupt()


def settle_work(work: Work) -> None:
    """Tells the waiter, on the loop, which waits a moment for memory to say it with."""
    for _ in range(MOST_TRIES):
        try:
            work.settle()
        except MemoryError:
            time.sleep(LOOK_SECONDS)
        else:
            return


class ConnectionQueue:
    """`run_group` is called on a worker; it gives every work its result or its error."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        workers: WorkerThreads,
        run_group: GroupRunner,
    ) -> None:
        self._connection = connection
        self._owner: aiosqlite.Connection | None = None
        self._workers = workers
        self.run_group = run_group
        self.largest_group = LARGEST_GROUP
        self.gathers = False
        """Whether it begins when the present turn of the loop is over, with all that is asked for in it, because
        writes that share a commit cost less.
        """
        self.after_group: Callable[[list[Work]], None] | None = None
        self.before_work: Callable[[sqlite3.Connection], None] | None = None
        """Called on the worker before a group, and before the last work."""
        self.when_idle: Callable[[], None] | None = None
        """Called on the loop when nothing is left to do."""
        self.under_way: UnderWay | None = None
        """Of a reader."""
        self._waiting: deque[Work] = deque()
        self._idle = asyncio.Event()
        self._is_running = False
        self._is_looking = False
        self._group_began = 0.0
        self._is_closed = False

    @classmethod
    async def open(
        cls, workers: WorkerThreads, connect: Callable[[], sqlite3.Connection], run_group: GroupRunner
    ) -> "ConnectionQueue":
        """Raises what `connect` raises, and RuntimeError when there can be no thread."""
        return cls(await workers.open(connect), workers, run_group)

    @classmethod
    async def open_owned(
        cls, workers: WorkerThreads, connect: Callable[[], sqlite3.Connection], run_group: GroupRunner
    ) -> "ConnectionQueue":
        """As `open`; from then on aiosqlite owns the connection, on a thread of its own, and closes it.

        It is opened before: when aiosqlite's own opening fails, its thread may outlive the loop.
        """
        queue = await cls.open(workers, connect, run_group)
        owner = aiosqlite.Connection(lambda: queue._connection, iter_chunk_size=ROWS_AT_A_TIME)
        try:
            await owner
        except BaseException:
            await queue.close()
            raise
        queue._owner = owner
        return queue

    @property
    def connection(self) -> sqlite3.Connection | None:
        """The connection, to be used on the loop at once and left; None while a group runs or waits."""
        return None if self._is_running or self._is_closed else self._connection

    @property
    def is_idle(self) -> bool:
        return not self._is_running

    @property
    def is_held_up(self) -> bool:
        """Whether it has been at one group for so long that what is quick should go elsewhere."""
        return self._is_running and time.monotonic() - self._group_began > LONG_SECONDS

    def submit(
        self, action: Callable[[Any], Result], actor: Actor, until: float = math.inf, is_quiet: bool = False
    ) -> "asyncio.Future[Result]":
        """The future of the action's result."""
        work = Work(action, actor, asyncio.get_running_loop().create_future(), until, is_quiet)
        self.take(work)
        return work.future

    def take(self, work: Work) -> None:
        """Raises RuntimeError when there can be no thread; the work is not done then. One that gathers tells the
        waiter instead.
        """
        self._waiting.append(work)
        if self._is_running:
            return
        if self.gathers:
            loop = work.future.get_loop()
            loop.call_soon(self._start_again, loop)
            self._group_began = time.monotonic()
            self._is_running = True
            self._idle.clear()
        else:
            try:
                self._start(work.future.get_loop())
            except BaseException:
                self._waiting.pop()
                raise

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Raises ValueError when the connection is closed, and RuntimeError when there can be no thread."""
        self._group_began = time.monotonic()
        if self.under_way is not None:
            self._look_later(loop, self.under_way)
        if self._is_closed:
            raise ValueError("no active connection")
        self._workers.post(partial(self._run_groups, loop))  # last of what may fail: then nothing is begun
        self._is_running = True
        self._idle.clear()

    def _look_later(self, loop: asyncio.AbstractEventLoop, under_way: UnderWay) -> None:
        if not self._is_looking:
            loop.call_later(LOOK_SECONDS, self._look, loop, under_way)
            self._is_looking = True

    def _look(self, loop: asyncio.AbstractEventLoop, under_way: UnderWay) -> None:
        """Now and then while it runs. A read has several statements, so it may have to be broken off again."""
        self._is_looking = False
        if self._is_running:
            under_way.break_off_if_over(self._connection)
            self._look_later(loop, under_way)

    def _run_groups(self, loop: asyncio.AbstractEventLoop) -> None:
        """On a worker: group by group, until nothing waits, or another connection waits for a thread. Each group
        is delivered when it is done.
        """
        is_last = False
        while not is_last:
            self._group_began = time.monotonic()
            group = self._next_group()
            try:
                self._make_ready()
                self.run_group(self._connection, group)
            except BaseException as error:  # a waiter must always hear; the error is its answer
                for work in group:
                    work.error = work.error or error
            is_last = not self._waiting
            call_on_loop(loop, self._deliver, loop, group, is_last)
            if not is_last and self._workers.is_wanted:
                self._workers.post_again(partial(self._run_groups, loop))
                return

    def _make_ready(self) -> None:
        if self.before_work is not None:
            self.before_work(self._connection)

    def _next_group(self) -> list[Work]:
        """Of what waits. When there is no memory for it, as soon as there is: no work is lost on the way."""
        group: list[Work] = []
        while self._waiting and len(group) < self.largest_group:
            try:
                group.append(self._waiting[0])
                self._waiting.popleft()
            except MemoryError:
                time.sleep(LOOK_SECONDS)
        return group

    def _deliver(self, loop: asyncio.AbstractEventLoop, group: list[Work], is_last: bool) -> None:
        """On the loop. What came while the thread was ending is started here, so that nothing is left waiting."""
        if is_last:
            self._is_running = False
            if self._waiting:
                self._start_again(loop)
            else:
                self._idle.set()
        if self.after_group is not None:
            self.after_group(group)
        for work in group:
            settle_work(work)
        if self.when_idle is not None and not self._is_running:
            self.when_idle()

    def _start_again(self, loop: asyncio.AbstractEventLoop) -> None:
        """When that fails for want of memory or threads, what waits is not done, and told so."""
        try:
            self._start(loop)
        except Exception as error:
            self._is_running = False
            while self._waiting:
                work = self._waiting.popleft()
                work.error = error
                settle_work(work)
            self._idle.set()

    async def run_last(self, function: Callable[[sqlite3.Connection], Result]) -> Result:
        """The function's result, outside of any transaction and after all that waits: nothing may follow it."""
        await self._is_over()

        def work() -> Result:
            self._make_ready()
            return function(self._connection)

        return await self._workers.run(work)

    async def _is_over(self) -> None:
        while self._is_running:
            await self._idle.wait()

    async def close(self) -> None:
        """Finishes what waits, then closes the connection, on a worker."""
        await self._is_over()
        self._is_closed = True
        if self._owner is not None:
            await self._owner.close()
            return
        try:
            await self._workers.run(self._connection.close)
        except RuntimeError:  # there can be no thread
            self._connection.close()
