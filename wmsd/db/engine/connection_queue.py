"""A queue of units of work for one connection. The work runs in groups, one group after the other.

A unit of work is a plain function. It runs on one thread, and to its end even if its caller is cancelled. The work
that arrives while a group runs forms the next group.

Worker threads run the groups. At each statement, Python's lock passes from the worker to the event loop and back,
which costs more than most statements. Therefore the event loop itself runs quick writes, and a worker only commits
them, because a commit waits for the disk (see `GroupOnLoop`).

Only a read can be interrupted, because it changes nothing. wmsd interrupts a read when its time limit has passed,
or when no caller waits for it any more.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from wmsd.base.machine.thread_results import call_on_loop
from wmsd.contract.context import Actor
from wmsd.db.engine.loop_connection import LoopConnection
from wmsd.db.engine.loop_turns import TurnBudget
from wmsd.db.engine.sqlite import aiosqlite, sqlite3
from wmsd.db.engine.work import (
    LOOK_SECONDS,
    GroupOnLoop,
    GroupRunner,
    RunningRead,
    Work,
    fail_group,
    settle_work,
)
from wmsd.db.engine.worker_threads import WorkerThreads

Result = TypeVar("Result")
LARGEST_GROUP = 64
LARGEST_READ_GROUP = 8
"""The maximum number of reads in a group. It is lower than the maximum for writes, so that the first results are
delivered early.
"""
LONG_SECONDS = 0.02
TURN_SECONDS = 0.02
"""In a turn of the event loop, no group of writes of any file starts this many seconds after the first one."""
ROWS_AT_A_TIME: Final = 64
"""The chunk size of aiosqlite's cursors. It has no effect, because wmsd fetches no rows with these cursors."""


class ConnectionQueue:
    """A queue of work for one connection.

    `run_group` is called on a worker thread with a group of units of work. It must set the result or the error of
    each unit.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        workers: WorkerThreads,
        run_group: GroupRunner,
    ) -> None:
        self._connection = LoopConnection(connection)
        self._owner: aiosqlite.Connection | None = None
        self._workers = workers
        self.run_group = run_group
        self.largest_group = LARGEST_GROUP
        self.gathers = False
        """If True, an idle queue does not start new work immediately. It collects the work that arrives in the
        current iteration of the event loop, and starts all of it when the iteration ends. Writes in one group
        share a commit, which is faster.
        """
        self.after_group: Callable[[list[Work]], None] | None = None
        self.quick: GroupOnLoop | None = None
        """If set, the event loop runs the groups that are quick."""
        self.turn: TurnBudget | None = None
        """If set, a group starts only while the present turn of the event loop has time for it."""
        self.when_idle: Callable[[], None] | None = None
        """A function that is called on the event loop when no work is left."""
        self.under_way: RunningRead | None = None
        """The current read, if this is the queue of a reader."""
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
        """Open a connection, and return its queue.

        `connect` opens the connection; its errors are raised here. Raise RuntimeError if no thread can start.
        """
        return cls(await workers.open(connect), workers, run_group)

    @classmethod
    async def open_owned(
        cls, workers: WorkerThreads, connect: Callable[[], sqlite3.Connection], run_group: GroupRunner
    ) -> "ConnectionQueue":
        """Open a queue as `open` does, but let aiosqlite own the connection and close it later.

        aiosqlite runs a separate thread for the connection. This method opens the connection before it creates
        that thread. Otherwise the thread could outlive the event loop if the connection cannot be opened.
        """
        queue = await cls.open(workers, connect, run_group)
        owner = aiosqlite.Connection(lambda: queue._connection.sqlite, iter_chunk_size=ROWS_AT_A_TIME)
        try:
            await owner
        except BaseException:
            await queue.close()
            raise
        queue._owner = owner
        return queue

    @property
    def connection(self) -> LoopConnection | None:
        """The connection if the queue is idle. None while a group runs or waits, and after `close`.

        Use the connection immediately and on the event loop. Do not store it.
        """
        return None if self._is_running or self._is_closed else self._connection

    @property
    def is_idle(self) -> bool:
        return not self._is_running

    @property
    def is_held_up(self) -> bool:
        """True if the current group has run for so long that quick work should use another connection."""
        return self._is_running and time.monotonic() - self._group_began > LONG_SECONDS

    def submit(
        self,
        action: Callable[[Any], Result],
        actor: Actor,
        until: float = math.inf,
        is_quiet: bool = False,
        may_repeat: bool = False,
    ) -> "asyncio.Future[Result]":
        """Add the action to the queue, and return the future of its result."""
        work = Work(action, actor, asyncio.get_running_loop().create_future(), until, is_quiet, may_repeat)
        self.take(work)
        return work.future

    def take(self, work: Work) -> None:
        """Add the work to the queue. Raise RuntimeError if no thread can start; the work is then not done.

        If the queue gathers work (see `gathers`), nothing is raised. Instead, the future of the work gets this
        error.
        """
        self._waiting.append(work)
        if self._is_running:
            return
        loop = work.future.get_loop()
        try:
            if self.gathers:
                self._group_began = time.monotonic()
                loop.call_soon(self._start_again, loop)
                self._is_running = True
                self._idle.clear()
            else:
                self._start(loop)
        except BaseException:
            self._waiting.pop()
            raise

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the next group on the event loop if it is quick. Otherwise run the waiting groups on a worker.

        Raise ValueError if the connection is closed, and RuntimeError if no thread can start.
        """
        self._group_began = time.monotonic()
        if self.under_way is not None:
            self._look_later(loop, self.under_way)
        if self._is_closed:
            raise ValueError("no active connection")
        if not self._has_run_quickly(loop):
            self._workers.post(partial(self._run_groups, loop))  # last: if it fails, nothing has started
        self._is_running = True
        self._idle.clear()

    def _has_run_quickly(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Run the next group on the event loop, and let a worker thread commit it. Return False if the group is
        not quick; in this case, nothing has happened.

        Raise RuntimeError if no thread can start.
        """
        if self.quick is None or not self._waiting[0].may_repeat:
            return False
        group = self.quick.run(self._connection, self._waiting)
        if not group:
            return False
        try:
            if self._connection.sqlite.in_transaction:
                self._workers.post(partial(self._commit, loop, self.quick, group))
            else:
                loop.call_soon(self._deliver, loop, group, True)
        except BaseException:
            self.quick.undo(self._connection.sqlite, group)
            raise
        for _ in group:
            self._waiting.popleft()
        return True

    def _commit(self, loop: asyncio.AbstractEventLoop, quick: GroupOnLoop, group: list[Work]) -> None:
        """Commit a group that has run on the event loop. This runs on a worker thread."""
        try:
            self._connection.unbound()
            quick.commit(self._connection.sqlite)
        except BaseException as error:  # the waiting caller must always get an answer; here it is the error
            fail_group(group, error)
        call_on_loop(loop, self._deliver, loop, group, True)

    def _look_later(self, loop: asyncio.AbstractEventLoop, under_way: RunningRead) -> None:
        if not self._is_looking:
            loop.call_later(LOOK_SECONDS, self._look, loop, under_way)
            self._is_looking = True

    def _look(self, loop: asyncio.AbstractEventLoop, under_way: RunningRead) -> None:
        """Interrupt the current read if necessary, and check again later as long as the queue runs.

        One interruption may not be enough, because a read has several statements.
        """
        self._is_looking = False
        if self._is_running:
            under_way.break_off_if_over(self._connection.sqlite)
            self._look_later(loop, under_way)

    def _run_groups(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run groups on a worker thread until no work waits. If the next group may be quick, run only one group.

        Also stop if another connection needs a thread. The remaining groups then run when a thread is free again.
        The results of each group are delivered as soon as the group is done.
        """
        is_last = False
        while not is_last:
            self._group_began = time.monotonic()
            group = self._next_group()
            try:
                self._connection.unbound()
                self.run_group(self._connection.sqlite, group)
            except BaseException as error:  # as in `_commit`
                fail_group(group, error)
            is_last = self.quick is not None or not self._waiting
            call_on_loop(loop, self._deliver, loop, group, is_last)
            if not is_last and self._workers.is_wanted:
                self._workers.post_again(partial(self._run_groups, loop))
                return

    def _next_group(self) -> list[Work]:
        """Take the next group from the queue.

        If there is no memory for it, wait until there is, so that no work is lost.
        """
        group: list[Work] = []
        while self._waiting and len(group) < self.largest_group:
            try:
                group.append(self._waiting[0])
                self._waiting.popleft()
            except MemoryError:
                time.sleep(LOOK_SECONDS)
        return group

    def _deliver(self, loop: asyncio.AbstractEventLoop, group: list[Work], is_last: bool) -> None:
        """Pass the results of a group to the waiting callers. This runs on the event loop.

        If new work arrived after the last group, start the queue again for it. A thread starts with this work
        before the results are delivered. The event loop delivers the results first.
        """
        goes_on = is_last and bool(self._waiting)
        if is_last and not goes_on:
            self._is_running = False
            self._idle.set()
        elif goes_on and self.quick is None:
            self._is_running = False
            self._start_again(loop)
        try:
            if self.after_group is not None:
                self.after_group(group)
        finally:
            for work in group:
                settle_work(work)
            if goes_on and self.quick is not None:
                self._start_in_turn(loop)
            if self.when_idle is not None and not self._is_running:
                self.when_idle()

    def _start_in_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start to run groups again in the next turn of the event loop."""
        self._group_began = time.monotonic()
        try:
            loop.call_soon(self._start_again, loop)
        except MemoryError:
            self._start_again(loop)

    def _start_again(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start to run groups again. If memory or threads are short, report the error to all waiting callers."""
        try:
            if self.turn is not None and not self.turn.has_time(loop, TURN_SECONDS):
                loop.call_soon(self._start_again, loop)
                return
            self._start(loop)
        except Exception as error:
            self._is_running = False
            while self._waiting:
                work = self._waiting.popleft()
                work.error = error
                settle_work(work)
            self._idle.set()

    async def run_last(self, function: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run the function after all waiting work, outside of any transaction. Return its result.

        Do not add work to the queue after this call.
        """
        await self._is_over()

        def work() -> Result:
            self._connection.unbound()
            return function(self._connection.sqlite)

        return await self._workers.run(work)

    async def _is_over(self) -> None:
        while self._is_running:
            await self._idle.wait()

    async def close(self) -> None:
        """Finish the waiting work, then close the connection on a worker thread."""
        await self._is_over()
        self._is_closed = True
        if self._owner is not None:
            await self._owner.close()
            return
        try:
            await self._workers.run(self._connection.close)
        except RuntimeError:  # no thread can start
            self._connection.close()
