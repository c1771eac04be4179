"""Reads that are over in a moment, on the event loop's own thread.

A hop to another thread and back costs several times what most reads do, because it hands Python's lock over and
back at every statement. So a read is tried here first, over one snapshot with the others of this turn of the loop.
One that takes longer than a moment, or would have to wait, is broken off and done from its beginning by a thread:
a read leaves nothing behind.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.context import Actor
from wmsd.base.ids import Ids
from wmsd.db.connection_thread import Work
from wmsd.db.failures import is_delay
from wmsd.db.sqlite import connect, sqlite3
from wmsd.db.transaction import Provision, Transaction
from wmsd.db.unit_of_work import read_group, read_unit

Result = TypeVar("Result")
MOMENT_SECONDS: Final = 0.003
STEPS_BETWEEN_LOOKS: Final = 2000
"""SQLite's own steps, a few dozen to the microsecond, between two looks at the clock."""
LARGEST_TURN: Final = 64
TURN_SECONDS: Final = 0.012
"""Many reads that each take a moment are long together."""


class NextTurn(Exception):
    """The others of its turn have taken too long."""


class InlineReader:
    """`hand_over` is given the works that cannot be done here and now.

    `begin` is called before it opens the file, and answers whether this process is to have it alone.
    """

    def __init__(
        self,
        path: Path,
        clock: OrderedClock,
        ids: Ids,
        provision: Provision,
        hand_over: Callable[[Work], None],
        begin: Callable[[], bool],
    ) -> None:
        self._path = path
        self._hand_over = hand_over
        self._begin = begin
        self._run_group = read_group(clock, ids, provision, self._read_unit)
        self._connection: sqlite3.Connection | None = None
        self._waiting: list[Work] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._until = math.inf
        self._turn_until = math.inf
        self.is_paused = False
        """Whether the file must stay closed here, and everything is handed over."""

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def is_idle(self) -> bool:
        return not self._waiting

    def submit(self, action: Callable[[Any], Any], actor: Actor, until: float = math.inf) -> "asyncio.Future[Any]":
        """The future of the action's result."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._run)
        work = Work(action, actor, loop.create_future(), until)
        self._waiting.append(work)
        return work.future

    def _run(self) -> None:
        group, self._waiting = self._waiting[:LARGEST_TURN], self._waiting[LARGEST_TURN:]
        if not group:  # done while it closed
            return
        if self._waiting and self._loop is not None:
            self._loop.call_soon(self._run)
        if self.is_paused:
            for work in group:
                self._hand_over(work)
            return
        self._turn_until = time.monotonic() + TURN_SECONDS
        try:
            self._run_group(self._opened(), group)
        except Exception as error:  # whatever it is, who waits must hear
            for work in group:
                work.error = work.error or error
        for work in group:
            if _is_put_off(work.error):
                work.error = None
                self._hand_over(work)
            else:
                work.settle()

    def _read_unit(self, tx: Transaction, work: Work) -> None:
        if work.future.cancelled():  # nobody waits for it any more
            return
        now = time.monotonic()
        if now > self._turn_until:
            work.error = NextTurn()
            return
        self._until = now + MOMENT_SECONDS
        read_unit(tx, work)
        self._until = math.inf

    def open(self) -> None:
        """What fails here fails at the first read again, and is told there."""
        if not self.is_paused:
            with contextlib.suppress(sqlite3.Error):
                self._opened()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = connect(self._path, busy_seconds=0, alone=self._begin())
            connection.execute("PRAGMA query_only = ON")
            connection.set_progress_handler(lambda: time.monotonic() > self._until, STEPS_BETWEEN_LOOKS)
            self._connection = connection
        return self._connection

    async def run_last(self, function: Callable[[sqlite3.Connection], Result]) -> Result:
        """The function's result, on a thread; nothing may follow it."""
        return await asyncio.to_thread(function, self._opened())

    def close(self) -> None:
        """Finishes what waits, then closes the connection. It opens again when it is used."""
        while self._waiting:
            self._run()
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _is_put_off(error: BaseException | None) -> bool:
    return isinstance(error, NextTurn) or (isinstance(error, sqlite3.Error) and is_delay(error))
