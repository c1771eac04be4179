"""Which companies' files stay open: as many as memory and the system's limit of open files allow.

Those that were not used for longest are closed first. A closed file opens again at its next use.
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
"""What a connection takes: its schema, its statements, and the first pages of its cache."""
SHARE_OF_CONNECTIONS: Final = 0.75
"""Of the memory. The rest is for pages: one that is not in memory costs a few microseconds to read again, a
connection a few thousand.
"""
UNUSED_SECONDS: Final = 300.0
"""After which an unused file is closed."""
WAIT_SECONDS: Final = 2.0
"""How long to wait for files to close, when as many are open as may be."""
AGAIN_SECONDS: Final = 0.01
AT_ONCE: Final = 8
"""Files that are closed at the same time. A close may wait for the disk."""
LOOKED_AT: Final = 64
"""How many are looked at to find one that can be closed. One that is in use counts as just used."""
LEAST_CONNECTIONS: Final = 8
LEAST_DESCRIPTORS: Final = 32
"""However little memory and however few descriptors there are."""
SLACK: Final = 16
"""One in so many connections is kept free, so that no request waits for a file to be closed."""


@dataclass(frozen=True, slots=True)
class FileBounds:
    """`descriptors` are file descriptors: each connection has some, and each file one more."""

    connections: int = 256
    descriptors: int = 1024

    @property
    def slack(self) -> int:
        """How many connections are kept free."""
        return min(self.connections, self.descriptors // (DESCRIPTORS_OF_A_CONNECTION + 1)) // SLACK

    @classmethod
    def within(cls, memory: int, descriptors: int) -> "FileBounds":
        """`memory` is in bytes."""
        connections = int(memory * SHARE_OF_CONNECTIONS) // CONNECTION_BYTES
        return cls(max(LEAST_CONNECTIONS, connections), max(LEAST_DESCRIPTORS, descriptors))


class OpenFiles:
    """Opens and closes databases. Each is opened once for all who ask, and closed by a task of its own, so that a
    client who goes away breaks off neither.
    """

    def __init__(self) -> None:
        self.bounds = FileBounds()
        self.connections = 0
        self._by_use: OrderedDict[FileConnections, None] = OrderedDict()
        """The open databases, the one that was not used for longest first."""
        self._reserved: set[FileConnections] = set()
        """Those for which there is room, and which are not open yet."""
        self._asked: Counter[FileConnections] = Counter()
        """How many wait for each that is opened."""
        self._openings: dict[FileConnections, asyncio.Task[None]] = {}
        self._closings: dict[FileConnections, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._by_use)

    def __iter__(self) -> Iterator[FileConnections]:
        return iter(list(self._by_use))

    async def use(self, database: FileConnections) -> None:
        """Has the database open for whoever asks for it next. Raises what opening raises."""
        if database in self._by_use:
            self._by_use.move_to_end(database)
        else:
            await self._open_for_all(database)

    def counted(self, database: FileConnections, change: int) -> None:
        """The database has opened or closed so many connections."""
        self.connections += change
        self._reserved.discard(database)
        if database.is_open:
            self._by_use[database] = None
        else:
            self._by_use.pop(database, None)
        if change > 0:
            self._close_until(self.bounds.slack)

    async def _open_for_all(self, database: FileConnections) -> None:
        """Opens it when there is room for it. It stays open at least until everybody who waits for it goes on."""
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
        await self._await_room()
        with self.room_for(database):
            await database.open()

    @contextmanager
    def room_for(self, database: FileConnections) -> Iterator[bool]:
        """Keeps room for its first connection meanwhile. Whether there is any."""
        has_room = self._has_room(1)
        self._reserved.add(database)
        try:
            yield has_room
        finally:
            self._reserved.discard(database)

    def _has_opened(self, database: FileConnections, opening: "asyncio.Task[None]") -> None:
        del self._openings[database]
        if not opening.cancelled():
            opening.exception()  # so that asyncio does not log it when nobody waits any more

    def _has_room(self, connections: int) -> bool:
        """Whether so many connections more may be opened."""
        wanted = self.connections + len(self._reserved) + connections
        descriptors = wanted * DESCRIPTORS_OF_A_CONNECTION + len(self) + 1
        return wanted <= self.bounds.connections and descriptors <= self.bounds.descriptors

    async def _await_room(self) -> None:
        """For one more connection. When all that are open stay in use, it goes on without after a while."""
        until = time.monotonic() + WAIT_SECONDS
        while not self._has_room(1) and time.monotonic() < until:
            self._close_until(1)
            if self._closings:
                await asyncio.wait(
                    self._closings.values(), return_when=asyncio.FIRST_COMPLETED, timeout=WAIT_SECONDS
                )
            else:
                await asyncio.sleep(AGAIN_SECONDS)  # nothing tells when one is idle

    def _close_until(self, connections: int) -> None:
        """Begins to close those that were not used for longest, so that there is room for so many connections. A
        file that has several loses those that only read; it is closed when its turn comes again.
        """
        if self._has_room(connections):
            return
        free = len(self._closings)
        for database in list(islice(self._by_use, LOOKED_AT)):
            if self._has_room(connections - free) or len(self._closings) >= AT_ONCE:
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
        """None when it is in use. When its file was moved it is stopped instead, and its content is kept."""
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
            self._by_use.pop(database, None)  # so that it comes last
        finally:
            del self._closings[database]
            if database.is_open:
                self._by_use[database] = None
            self._close_until(self.bounds.slack)

    async def close_if_idle(self, database: FileConnections) -> None:
        """Closes the database, unless it is in use."""
        if (closing := self._begin_to_close(database)) is not None:
            await asyncio.wait([closing])

    async def close_unused(self, now: float) -> bool:
        """Closes the files that nobody has used for a while; returns whether there was one."""
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
        """Waits for the openings and closings under way."""
        while under_way := [*self._openings.values(), *self._closings.values()]:
            await asyncio.wait(under_way)
