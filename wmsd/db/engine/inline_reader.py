"""Quick reads, which run on the event loop's own thread.

Running a read on another thread costs several times more than most reads: at each statement, Python's lock passes
from one thread to the other and back. Therefore the event loop first tries to run a read itself.

A turn is one iteration of the event loop. The reads of one turn share a snapshot. A read does not wait for the
next turn, but runs immediately, while turns are long, and while each turn has only one read of the file.

A read is interrupted if it takes too long (see `loop_connection.py`), or if it has to wait for the disk or for a
lock. A thread then runs it from the beginning. This is safe because a read changes nothing.
"""

import asyncio
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.ids import Ids
from wmsd.contract.context import Actor
from wmsd.db.engine.connection_queue import ConnectionQueue
from wmsd.db.engine.failures import is_delay
from wmsd.db.engine.loop_connection import STALL_SECONDS, LoopConnection
from wmsd.db.engine.loop_turns import ReadTurn
from wmsd.db.engine.replaced_files import Standing
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.thread_readers import ThreadReaders
from wmsd.db.engine.transaction import Provision, Transaction
from wmsd.db.engine.unit_of_work import read_group, read_unit
from wmsd.db.engine.work import Work, settle_work
from wmsd.db.engine.worker_threads import WorkerThreads

Result = TypeVar("Result")
LARGEST_TURN: Final = 64
TURN_SECONDS: Final = 0.012
"""The processor time that reads may use in one turn. If it is used up, the remaining reads run in the
next turn.
"""
CROWD: Final = 8
"""If at least this many reads have not run at the end of a turn, threads run them."""
PATIENCE_SECONDS: Final = 0.02
"""How long a read waits for the writer's connection. After that, the reader opens a separate connection."""
OFTEN: Final = 8
"""After this many waits for the writer's connection, reads no longer wait for it. The reader then opens a separate
connection immediately.
"""
SHORTAGE_SECONDS: Final = 2.0
"""How long a read waits for the writer's connection after the reader has failed to open a separate connection."""


class NextTurn(Exception):
    """The error for a read that must run in the next turn, because this turn has no time left."""


class Stalled(Exception):
    """The error for a read that must run on a thread, because earlier reads of this turn have waited for the
    disk.
    """


class InlineReader:
    """A reader of one file that runs reads on the event loop. It passes a read that takes long to the thread
    readers (`readers`).

    The reader uses the writer's connection while the writer is idle. Therefore a company that is seldom used needs
    only one connection. If the writer is often busy, the reader opens a separate connection. Before that it calls
    `begin`. If `begin` returns True, the connection must keep other processes from opening the file.
    """

    def __init__(
        self,
        path: Path,
        clock: OrderedClock,
        ids: Ids,
        provision: Provision,
        standing: Standing,
        readers: ThreadReaders,
        begin: Callable[[], bool],
        writer: Callable[[], ConnectionQueue | None],
        threads: WorkerThreads,
        turn: ReadTurn,
        counted: Callable[[int], None],
    ) -> None:
        self._path = path
        self._readers = readers
        self._begin = begin
        self._writer = writer
        self._threads = threads
        self._turn = turn
        self._counted = counted
        self._run_group = read_group(clock, ids, provision, standing, self._read_unit)
        self._connection: LoopConnection | None = None
        """The separate connection, if there is one."""
        self._waiting: list[Work] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn_connection: LoopConnection | None = None
        """The connection that this turn uses."""
        self._turn_until = math.inf
        self._turn_stalled_at = math.inf
        self._unbegun = 0
        """How many reads did not run in this turn, because it had no time left."""
        self._again = 0
        """How many reads of this turn were postponed to the next turn. They are at the front of `_waiting`."""
        self._is_scheduled = False
        self._scheduled_at = 0.0
        self._turn_number = 0
        self._reads_in_turn = 0
        """The last turn in which a read was added, and how many were added in it."""
        self._was_alone = False
        """True if only one read was added in the turn before that."""
        self._patience: asyncio.TimerHandle | None = None
        self._opening: asyncio.Task[None] | None = None
        self._waits = 0
        """How often a read had to wait for the writer."""
        self._is_short = False
        """True if the last attempt to open a separate connection failed."""
        self.is_paused = False
        """True while this reader may not open a connection. Threads then run all reads."""

    @property
    def is_open(self) -> bool:
        """True if the reader has a separate connection."""
        return self._connection is not None

    @property
    def is_idle(self) -> bool:
        return not self._waiting and self._opening is None

    def submit(
        self, action: Callable[[Any], Result], actor: Actor, until: float = math.inf
    ) -> "asyncio.Future[Result]":
        """Add the action to the reads of this turn, and return the future of its result."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        work = Work(action, actor, loop.create_future(), until)
        has_time = self._turn.has_time(loop)
        self._count_read()
        is_first = not self._waiting and self._may_run
        self._waiting.append(work)
        if is_first and has_time and (self._turn.is_long or self._is_alone):
            self._run()
        if self._waiting or self._turn.is_long:  # a long turn is followed by a look whether the next is long
            self._schedule(loop)
        return work.future

    def _count_read(self) -> None:
        if self._turn_number != self._turn.number:
            self._was_alone = self._reads_in_turn == 1
            self._turn_number, self._reads_in_turn = self._turn.number, 0
        self._reads_in_turn += 1

    @property
    def _is_alone(self) -> bool:
        """True if there is probably no other read in this turn, with which the present read could share a
        snapshot.
        """
        return self._was_alone and self._reads_in_turn == 1

    @property
    def _may_run(self) -> bool:
        """True if reads can start now: no turn is scheduled, and the reader does not wait for a connection."""
        return not self._is_scheduled and self._patience is None and self._opening is None

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._may_run:
            loop.call_soon(self._run_in_turn)
            self._is_scheduled, self._scheduled_at = True, time.perf_counter()

    def _run_in_turn(self) -> None:
        self._turn.note(time.perf_counter() - self._scheduled_at)
        self._run()

    def go_on(self) -> None:
        """Run the waiting reads. The writer calls this when it becomes idle."""
        if self._waiting and (self._patience is not None or self._opening is not None):
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None
            self._run()

    def _run(self) -> None:
        self._is_scheduled = False
        if not self._waiting:  # the scheduled reads were handed over meanwhile
            return
        if self.is_paused:
            self._hand_all_over()
            return
        connection = self._connection
        if connection is None:
            writer = self._writer()
            connection = None if writer is None else writer.connection
            if connection is None:
                self._wait(has_writer=writer is not None)
                return
        group, self._waiting = self._waiting[:LARGEST_TURN], self._waiting[LARGEST_TURN:]
        if self._waiting and self._loop is not None:
            self._schedule(self._loop)
        self._turn_until, self._turn_stalled_at = math.inf, time.monotonic() + STALL_SECONDS
        self._unbegun = 0
        try:
            # `PRAGMA query_only` would make SQLite prepare all statements of the writer's connection again, which
            # takes longer than most reads.
            connection.bound()
            self._turn_connection = connection
            self._run_group(connection.sqlite, group)
        except Exception as error:  # whatever the error is, the waiting caller must get it
            for work in group:
                work.error = work.error or error
        self._again = 0
        for work in group:
            try:
                self._conclude(work)
            except Exception as error:  # memory may run out here too
                work.error = error
                settle_work(work)

    def _conclude(self, work: Work) -> None:
        """Pass the result of a finished read to the waiting caller. Run a read later if it was interrupted or
        could not start:

        - If this turn had no time left, the read runs in the next turn. If many such reads remain, a thread runs
          it.
        - If the read was interrupted, or if this turn is waiting for the disk, a thread runs the read. If no
          thread can, the read gets one more try, because most interrupted reads are quick ones on a busy machine.
        """
        if isinstance(work.error, NextTurn) and self._unbegun < CROWD:
            work.error = None
            self._waiting.insert(self._again, work)
            self._again += 1
            assert self._loop is not None
            self._schedule(self._loop)
        elif isinstance(work.error, NextTurn | Stalled) or is_delay(work.error):
            work.error = work.refused
            if work.refused is None:
                self._readers.hand_over(work, or_else=self._try_again)
            else:
                settle_work(work)
        else:
            settle_work(work)

    def _try_again(self, work: Work) -> None:
        assert self._loop is not None
        work.refused, work.error = work.error, None
        self._waiting.append(work)
        self._schedule(self._loop)

    def _wait(self, has_writer: bool) -> None:
        """Wait a short time for the writer's connection. After that, open a separate connection.

        Do not wait if reads have already waited often, or if there is no writer (`has_writer` is False).
        """
        assert self._loop is not None
        if self._opening is not None:
            return
        self._waits += 1
        patience = 0.0
        if has_writer and self._is_short:
            patience = SHORTAGE_SECONDS
        elif has_writer and self._waits < OFTEN:
            patience = PATIENCE_SECONDS
        self._patience = self._loop.call_later(patience, self._open_own)

    def _open_own(self) -> None:
        self._patience = None
        self._opening = asyncio.ensure_future(self._open())

    async def _open(self) -> None:
        """Open a separate connection for the waiting reads.

        If that fails, the reads continue to wait for the writer. The thread readers run them instead in these
        cases:
        - A thread reader is open.
        - The last attempt to open a connection failed too.
        - There is no writer.
        """
        try:
            new = partial(connect, self._path, busy_seconds=0, alone=self._begin())
            connection = await self._threads.run(new)
            if self.is_paused:
                connection.close()
            else:
                connection.execute("PRAGMA query_only = ON")
                bounded = LoopConnection(connection)
                bounded.bound()
                self._connection = bounded
                self._is_short = False
                self._counted(1)
        except Exception:
            if self._readers.are_open or self._is_short or self._writer() is None:
                self._hand_all_over()
            self._is_short = True
        finally:
            self._opening = None
            if self._waiting and self._loop is not None:
                self._schedule(self._loop)

    def _hand_all_over(self) -> None:
        group, self._waiting = self._waiting, []
        for work in group:
            self._readers.hand_over(work)

    def _read_unit(self, tx: Transaction, work: Work) -> None:
        if work.future.cancelled():  # no caller waits for it any more
            return
        now = time.thread_time()
        if now > self._turn_until:
            work.error = NextTurn()
            self._unbegun += 1
            return
        if time.monotonic() > self._turn_stalled_at:
            work.error = Stalled()
            return
        assert self._turn_connection is not None
        self._turn_connection.begin(now)
        read_unit(tx, work)
        self._turn_connection.end()
        if self._turn_until == math.inf:  # set after the first read, because each turn runs at least one
            self._turn_until = now + TURN_SECONDS

    async def run_last(self, function: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run the function with the separate connection, on a thread. Return its result. The caller must submit no
        reads after this call.
        """
        connection = self._connection
        assert connection is not None
        return await self._threads.run(lambda: function(connection.sqlite))

    async def close(self) -> None:
        """Pass the waiting reads to thread readers, and then close the separate connection. The next read that
        needs a separate connection opens it again.
        """
        if self._opening is not None:
            await asyncio.wait([self._opening])
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        self._hand_all_over()
        self._waits = 0
        connection, self._connection, self._turn_connection = self._connection, None, None
        if connection is not None:
            self._counted(-1)
            await self._threads.run(connection.close)
