"""A connection on a thread of its own, and the work that waits for it.

A unit of work is a plain function that runs whole in one hop onto the thread: cancelling its waiter cannot cut
it. What waits while the thread is busy is taken together, as a group, when it is free.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from wmsd.db.sqlite import aiosqlite, sqlite3

LARGEST_GROUP = 64
LARGEST_READ_GROUP = 8
"""Smaller, so that the first answers are sent while the reader goes on."""
LONG_SECONDS = 0.02


class HopConnection(aiosqlite.Connection):
    async def hop(self, function: Callable[[sqlite3.Connection], Any]) -> Any:
        """Runs the function on the connection's thread.

        aiosqlite's own calls are one hop a statement, about 100 us each; its queue, which runs any function,
        has no public name.
        """
        return await self._execute(function, self._conn)  # type: ignore[no-untyped-call]  # theirs


@dataclass(slots=True)
class Work:
    """One unit of work, its waiter, and in the end its result or error."""

    action: Callable[[Any], Any]
    future: "asyncio.Future[Any]"
    result: Any = None
    error: BaseException | None = None


GroupRunner = Callable[[sqlite3.Connection, list[Work]], None]


@dataclass(slots=True)
class Lane:
    """`run_group` is called on the thread; it gives every work its result or its error."""

    connection: HopConnection
    run_group: GroupRunner
    largest_group: int = LARGEST_GROUP
    after_group: Callable[[], None] | None = None
    _waiting: deque[Work] = field(default_factory=deque)
    _drain: "asyncio.Task[None] | None" = None
    _group_began: float = 0.0

    @property
    def is_idle(self) -> bool:
        return self._drain is None

    @property
    def is_held_up(self) -> bool:
        """Whether it has been at one group for so long that what is quick should go elsewhere."""
        return self._drain is not None and time.monotonic() - self._group_began > LONG_SECONDS

    async def run(self, action: Callable[[Any], Any]) -> Any:
        loop = asyncio.get_running_loop()
        work = Work(action, loop.create_future())
        self._waiting.append(work)
        if self._drain is None:
            self._group_began = time.monotonic()
            self._drain = loop.create_task(self._run_all(loop))
        return await work.future

    async def _run_all(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while self._waiting:
                await self.connection.hop(lambda connection: self._run_groups(connection, loop))
        except Exception as error:  # the thread is gone: no waiter may wait for ever
            while self._waiting:
                work = self._waiting.popleft()
                work.error = error
                self._deliver([work])
        finally:
            self._drain = None

    def _run_groups(self, connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), self.largest_group))]
            self._group_began = time.monotonic()
            try:
                self.run_group(connection, group)
            except BaseException as error:  # a waiter must always hear; the error is its answer
                for work in group:
                    work.error = work.error or error
            loop.call_soon_threadsafe(self._deliver, group)

    def _deliver(self, group: list[Work]) -> None:
        if self.after_group is not None:
            self.after_group()
        for work in group:
            if work.future.done():
                continue
            if work.error is None:
                work.future.set_result(work.result)
            else:
                work.future.set_exception(work.error)

    async def close(self) -> None:
        """Finishes what waits, then closes the connection and ends its thread."""
        while self._drain is not None:
            await asyncio.shield(self._drain)
        await self.connection.close()
