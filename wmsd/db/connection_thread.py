"""A connection on a thread of its own, and the work that waits for it.

A unit of work is a plain function that runs whole in one hop onto the thread: cancelling its waiter cannot cut
it. What waits while the thread is busy is taken together, as a group, when it is free.

A read leaves nothing behind, so it can be broken off: when its time is over, and when nobody waits for it.

aiosqlite opens the connection, owns it and closes it. Its calls run one statement each, at 100 us a hop, and it
has no public call that runs a function. So units of work run on a thread beside aiosqlite's own.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from wmsd.base.context import PROGRAM, Actor
from wmsd.db.sqlite import aiosqlite, sqlite3

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
        else:
            self.future.set_exception(self.error)


GroupRunner = Callable[[sqlite3.Connection, list[Work]], None]
Task = Callable[[sqlite3.Connection], None]


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


def _settle(work: Work) -> None:
    """On the loop, which waits a moment for memory to say it with."""
    for _ in range(MOST_TRIES):
        try:
            work.settle()
        except MemoryError:
            time.sleep(LOOK_SECONDS)
        else:
            return


def tell(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: object) -> None:
    """From a thread. When there is no memory for it, as soon as there is: whoever waits must always hear."""
    while True:
        try:
            loop.call_soon_threadsafe(function, *arguments)
        except MemoryError:
            time.sleep(LOOK_SECONDS)
        else:
            return


def _work_through(tasks: "SimpleQueue[Task | None]", connection: sqlite3.Connection) -> None:
    """On the thread, until there is no next task."""
    while (task := tasks.get()) is not None:
        _run_whole(task, connection)
        del task  # what it holds is not held while the thread waits


def _run_whole(task: "Task", connection: sqlite3.Connection) -> None:
    """A task tells its end itself. One that could not begin for want of memory begins as soon as there is some."""
    while True:
        try:
            task(connection)
        except MemoryError:
            time.sleep(LOOK_SECONDS)
        else:
            return


class ConnectionThread:
    """`run_group` is called on the thread; it gives every work its result or its error."""

    def __init__(
        self, owner: aiosqlite.Connection, connection: sqlite3.Connection, run_group: GroupRunner
    ) -> None:
        self._owner = owner
        self._connection = connection
        self.run_group = run_group
        self.largest_group = LARGEST_GROUP
        self.after_group: Callable[[list[Work]], None] | None = None
        self.under_way: UnderWay | None = None
        """Of a reader."""
        self._waiting: deque[Work] = deque()
        self._idle = asyncio.Event()
        self._is_running = False
        self._is_looking = False
        self._group_began = 0.0
        self._is_closed = False
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        # A daemon, so that a process which fails before it has closed everything can still end.
        threading.Thread(target=_work_through, args=(self._tasks, connection), daemon=True).start()

    @classmethod
    async def open(cls, connect: Callable[[], sqlite3.Connection], run_group: GroupRunner) -> "ConnectionThread":
        """Raises what `connect` raises, and RuntimeError when there can be no more threads."""
        owner = aiosqlite.Connection(connect, iter_chunk_size=ROWS_AT_A_TIME)
        await owner
        try:
            async with owner.cursor() as cursor:
                return cls(owner, cursor.connection, run_group)
        except BaseException:
            await owner.close()
            raise

    @property
    def is_idle(self) -> bool:
        return not self._is_running

    @property
    def is_held_up(self) -> bool:
        """Whether it has been at one group for so long that what is quick should go elsewhere."""
        return self._is_running and time.monotonic() - self._group_began > LONG_SECONDS

    def submit(self, action: Callable[[Any], Any], actor: Actor, until: float = math.inf) -> "asyncio.Future[Any]":
        """The future of the action's result."""
        work = Work(action, actor, asyncio.get_running_loop().create_future(), until)
        self.take(work)
        return work.future

    def take(self, work: Work) -> None:
        self._waiting.append(work)
        if not self._is_running:
            self._start(work.future.get_loop())

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._group_began = time.monotonic()
        self._post(partial(self._run_groups, loop))
        self._is_running = True
        self._idle.clear()
        if self.under_way is not None:
            self._look_later(loop, self.under_way)

    def _post(self, task: Task) -> None:
        """Raises ValueError when the connection is closed."""
        if self._is_closed:
            raise ValueError("no active connection")
        self._tasks.put(task)

    def _look_later(self, loop: asyncio.AbstractEventLoop, under_way: UnderWay) -> None:
        if not self._is_looking:
            self._is_looking = True
            loop.call_later(LOOK_SECONDS, self._look, loop, under_way)

    def _look(self, loop: asyncio.AbstractEventLoop, under_way: UnderWay) -> None:
        """Now and then while it runs. A read has several statements, so it may have to be broken off again."""
        self._is_looking = False
        if self._is_running:
            under_way.break_off_if_over(self._connection)
            self._look_later(loop, under_way)

    def _run_groups(self, loop: asyncio.AbstractEventLoop, connection: sqlite3.Connection) -> None:
        """On the thread: group by group, until nothing waits. Each group is delivered when it is done."""
        is_last = False
        while not is_last:
            self._group_began = time.monotonic()
            group = self._next_group()
            try:
                self.run_group(connection, group)
            except BaseException as error:  # a waiter must always hear; the error is its answer
                for work in group:
                    work.error = work.error or error
            is_last = not self._waiting
            tell(loop, self._deliver, loop, group, is_last)

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
                self._start(loop)
            else:
                self._idle.set()
        if self.after_group is not None:
            self.after_group(group)
        for work in group:
            _settle(work)

    async def run_last(self, function: Callable[[sqlite3.Connection], Result]) -> Result:
        """The function's result, outside of any transaction and after all that waits: nothing may follow it."""
        await self._is_over()
        loop = asyncio.get_running_loop()
        work = Work(function, PROGRAM, loop.create_future())

        def run(connection: sqlite3.Connection) -> None:
            try:
                work.result = function(connection)
            except BaseException as error:  # as above
                work.error = error
            tell(loop, work.settle)

        self._post(run)
        result: Result = await work.future
        return result

    async def _is_over(self) -> None:
        while self._is_running:
            await self._idle.wait()

    async def close(self) -> None:
        """Finishes what waits, then closes the connection and ends its thread."""
        await self._is_over()
        self._is_closed = True
        self._tasks.put(None)
        await self._owner.close()
