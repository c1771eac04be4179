"""Which companies' files stay open: as many as memory and the system's limit of open files allow.

Those that were not used for longest are closed first. A closed file opens again at its next use.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final

from wmsd.db.database import DESCRIPTORS_OF_A_CONNECTION, Database

CONNECTION_BYTES: Final = 400_000
"""What a connection takes: its schema, its statements, and the first pages of its cache."""
UNUSED_SECONDS: Final = 300.0
"""After which an unused file is closed."""
WAIT_SECONDS: Final = 2.0
"""How long to wait for files to close, when as many are open as may be."""
AGAIN_SECONDS: Final = 0.01
AT_ONCE: Final = 8
"""Files that are closed at the same time. A close may wait for the disk."""
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
        """Half of the memory, in bytes, is for connections; SQLite's caches have the other half."""
        return cls(max(1, memory // 2 // CONNECTION_BYTES), descriptors)


class OpenFiles:
    def __init__(self) -> None:
        self.bounds = FileBounds()
        self.connections = 0
        self._by_use: OrderedDict[Database, None] = OrderedDict()
        """The open databases, the one that was not used for longest first."""
        self._reserved = 0
        self._closing: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._by_use)

    def used(self, database: Database) -> None:
        if database in self._by_use:
            self._by_use.move_to_end(database)

    def counted(self, database: Database, change: int) -> None:
        """The database has opened or closed so many connections."""
        self.connections += change
        if database.is_open:
            self._by_use[database] = None
        else:
            self._by_use.pop(database, None)

    def _has_room(self, connections: int) -> bool:
        """Whether so many connections more may be opened."""
        wanted = self.connections + self._reserved + connections
        descriptors = wanted * DESCRIPTORS_OF_A_CONNECTION + len(self) + 1
        return wanted <= self.bounds.connections and descriptors <= self.bounds.descriptors

    @asynccontextmanager
    async def room(self) -> AsyncIterator[None]:
        """Room for one more connection. When all that are open stay in use, it goes on without after a while."""
        until = time.monotonic() + WAIT_SECONDS
        while not self._has_room(1) and time.monotonic() < until:
            if not await self._close_some():
                await asyncio.sleep(AGAIN_SECONDS)  # nothing tells when one is idle
        self._reserved += 1
        try:
            yield
        finally:
            self._reserved -= 1
        self._close_soon()

    def _close_soon(self) -> None:
        if self._closing is None and not self._has_room(self.bounds.slack):
            self._closing = asyncio.ensure_future(self._make_room(self.bounds.slack))

    async def _make_room(self, connections: int) -> None:
        try:
            while not self._has_room(connections) and await self._close_some():
                pass
        finally:
            self._closing = None

    async def _close_some(self) -> bool:
        """Closes those that were not used for longest; returns whether there was one."""
        too_many = max(1, self.connections + self._reserved + 1 - self.bounds.connections)
        return await self._close(islice(self._idle(), min(too_many, AT_ONCE)))

    def _idle(self) -> Iterable[Database]:
        return (database for database in self._by_use if database.is_idle)

    async def _close(self, databases: Iterable[Database]) -> bool:
        chosen = list(databases)
        for database in chosen:
            self._by_use.pop(database)  # so that nobody else chooses it
        await asyncio.gather(*(database.close() for database in chosen))
        return bool(chosen)

    async def close_unused(self, now: float) -> bool:
        """Closes the files that nobody has used for a while; returns whether there was one."""
        was_one = False
        while True:
            oldest = islice(self._by_use, AT_ONCE)
            unused = [each for each in oldest if each.is_idle and now - each.last_used > UNUSED_SECONDS]
            if not await self._close(unused):
                return was_one
            was_one = True
