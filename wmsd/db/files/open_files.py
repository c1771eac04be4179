"""Opens the files of companies, and closes files when memory or the system's limit of open files requires it.

The least recently used files are closed first. A closed file opens again at its next use.
"""

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.db.engine.file_connections import DESCRIPTORS_OF_A_CONNECTION, FileConnections

LOG = logging.getLogger("wmsd.companies")
CONNECTION_BYTES: Final = 500_000
"""The memory of a connection: its schema, its statements, and the first pages of its cache."""
SHARE_OF_CONNECTIONS: Final = 0.75
"""The share of the memory that connections may use. The rest is for cached pages. Connections get the larger
share, because opening a connection takes a thousand times longer than reading a page again.
"""
UNUSED_SECONDS: Final = 300.0
"""The seconds after which an unused file is closed."""
WAIT_SECONDS: Final = 2.0
"""The longest wait for a file to close when the limit of open files is reached."""
AGAIN_SECONDS: Final = 0.01
AT_ONCE: Final = 8
"""The maximum number of files that are closed at the same time. Closing a file may wait for the disk."""
LOOKED_AT: Final = 64
"""When files must be closed, at most this number of files is checked. If a checked file is in use, it moves to the
end of the order of use.
"""
LEAST_CONNECTIONS: Final = 8
LEAST_DESCRIPTORS: Final = 32
"""The limits are at least LEAST_CONNECTIONS and LEAST_DESCRIPTORS, even on a machine with less memory or fewer
file descriptors.
"""
SLACK: Final = 16
"""One of every `SLACK` connections stays free, so that no request has to wait until a file is closed."""


@dataclass(frozen=True, slots=True)
class FileBounds:
    """The limits of open files.

    `connections` limits the database connections, and `descriptors` limits the file descriptors.
    """

    connections: int = 256
    descriptors: int = 1024

    @property
    def slack(self) -> int:
        """The number of connections that stay free."""
        return min(self.connections, self.descriptors // (DESCRIPTORS_OF_A_CONNECTION + 1)) // SLACK

    @classmethod
    def within(cls, memory: int, descriptors: int) -> "FileBounds":
        """Return the limits for this memory in bytes and this number of file descriptors."""
        connections = int(memory * SHARE_OF_CONNECTIONS) // CONNECTION_BYTES
        return cls(max(LEAST_CONNECTIONS, connections), max(LEAST_DESCRIPTORS, descriptors))


class OpenFiles:
    """Opens and closes the databases, and knows which are open.

    A separate task opens or closes each database, once for all callers. A client that disconnects therefore does
    not interrupt the task.
    """

    def __init__(self) -> None:
        self.bounds = FileBounds()
        self.connections = 0
        self._by_use: OrderedDict[FileConnections, None] = OrderedDict()
        """The open databases, the least recently used first."""
        self._reserved: set[FileConnections] = set()
        """The databases that have a reserved connection and are not open yet."""
        self._asked: Counter[FileConnections] = Counter()
        """How many callers wait for the opening of each database."""
        self._openings: dict[FileConnections, asyncio.Task[None]] = {}
        self._closings: dict[FileConnections, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._by_use)

    def __iter__(self) -> Iterator[FileConnections]:
        return iter(list(self._by_use))

    async def use(self, database: FileConnections) -> None:
        """Open the database if it is closed, and mark it as just used. Raise the errors of the opening."""
        if database in self._by_use:
            self._by_use.move_to_end(database)
        else:
            await self._open_for_all(database)

    def counted(self, database: FileConnections, change: int) -> None:
        """Record that `database` has opened `change` connections. If `change` is negative, it has closed
        connections.
        """
        self.connections += change
        self._reserved.discard(database)
        if database.is_open:
            self._by_use[database] = None
        else:
            self._by_use.pop(database, None)
        if change > 0:
            self._close_until(self.bounds.slack)

    async def _open_for_all(self, database: FileConnections) -> None:
        """Open the database when the limits allow it. All callers share one opening.

        The database stays open at least until all waiting callers have continued.
        """
        opening = self._openings.get(database)
        if opening is None:
            opening = self._openings[database] = asyncio.ensure_future(self._open(database))
            opening.add_done_callback(lambda done: self._has_opened(database, done))
        self._asked[database] += 1
        try:
            await asyncio.shield(opening)
        finally:
            self._asked[database] -= 1
            if not self._asked[database]:
                del self._asked[database]

    async def _open(self, database: FileConnections) -> None:
        if database in self._closings:
            await asyncio.wait([self._closings[database]])
        await self._await_connection()
        with self.reserve_connection(database):
            await database.open()

    @contextmanager
    def reserve_connection(self, database: FileConnections) -> Iterator[bool]:
        """Reserve the first connection of the database while this context is open.

        Yield True if the limits allow one more connection, otherwise False.
        """
        is_reserved = self._is_below_limits(1)
        self._reserved.add(database)
        try:
            yield is_reserved
        finally:
            self._reserved.discard(database)

    def _has_opened(self, database: FileConnections, opening: "asyncio.Task[None]") -> None:
        del self._openings[database]
        if not opening.cancelled():
            opening.exception()  # so that asyncio does not log the error when no caller waits any more

    def _is_below_limits(self, connections: int) -> bool:
        """Return True if the limits allow this number of additional connections."""
        wanted = self.connections + len(self._reserved) + connections
        descriptors = wanted * DESCRIPTORS_OF_A_CONNECTION + len(self) + 1
        return wanted <= self.bounds.connections and descriptors <= self.bounds.descriptors

    async def _await_connection(self) -> None:
        """Wait until the limits allow one more connection.

        If all open files stay in use, continue after `WAIT_SECONDS`.
        """
        until = time.monotonic() + WAIT_SECONDS
        while not self._is_below_limits(1) and time.monotonic() < until:
            self._close_until(1)
            if self._closings:
                await asyncio.wait(
                    self._closings.values(), return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_SECONDS
                )
            else:
                await asyncio.sleep(AGAIN_SECONDS)  # there is no signal when a file becomes idle

    def _close_until(self, connections: int) -> None:
        """Start to close the least recently used files until the limits allow this number of additional
        connections.

        If a file has several connections, first close only those for reading. The last connection is closed when
        the file is the least recently used one again.
        """
        if self._is_below_limits(connections):
            return
        free = len(self._closings)
        for database in list(islice(self._by_use, LOOKED_AT)):
            if self._is_below_limits(connections - free) or len(self._closings) >= AT_ONCE:
                return
            if database in self._closings:
                continue
            if self._begin_to_close(database, only_readers=database.can_close_readers) is not None:
                free += 1
            elif database in self._by_use:
                self._by_use.move_to_end(database)

    def _begin_to_close(
        self, database: FileConnections, only_readers: bool = False
    ) -> "asyncio.Task[None] | None":
        """Start to close the database, and return the task. With `only_readers`, close only the connections for
        reading.

        Return None if the database is in use, or if its file was moved. For a moved file, `CompanyFile.stop` is
        called: it closes the file, and saves its content.
        """
        is_free = database.is_idle and database not in self._asked and database not in self._closings
        if not is_free or not database.is_standing():
            return None
        if not only_readers:
            self._by_use.pop(database, None)
        work = database.close_readers if only_readers else database.close
        closing = self._closings[database] = asyncio.ensure_future(self._close(database, work))
        return closing

    async def _close(self, database: FileConnections, close: Callable[[], Awaitable[None]]) -> None:
        try:
            await close()
        except Exception as error:
            LOG.error("%s could not be closed: %s", database.path, error)
            self._by_use.pop(database, None)  # so that the file comes last
        finally:
            del self._closings[database]
            if database.is_open:
                self._by_use[database] = None
            self._close_until(self.bounds.slack)

    async def close_if_idle(self, database: FileConnections) -> None:
        """Close the database, unless it is in use."""
        if (closing := self._begin_to_close(database)) is not None:
            await asyncio.wait([closing])

    async def close_unused(self, now: float) -> bool:
        """Close the files that were not used for `UNUSED_SECONDS`. Return True if there was such a file. `now` is
        a time of the monotonic clock.
        """
        was_one = False
        for database in self:
            if (
                now - database.last_used > UNUSED_SECONDS
                and (closing := self._begin_to_close(database)) is not None
            ):
                was_one = True
                if len(self._closings) >= AT_ONCE:
                    await asyncio.wait([closing])
        if self._closings:
            await asyncio.wait(self._closings.values())
        return was_one

    async def close(self) -> None:
        """Wait until all databases that are now opening or closing have finished."""
        while under_way := [*self._openings.values(), *self._closings.values()]:
            await asyncio.wait(under_way)
