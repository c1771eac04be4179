"""The readers of a file on threads: a few for reads that are not quick, and one for searches.

Each reader is opened when it is first needed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from wmsd.db.engine.connection_queue import LARGEST_READ_GROUP, ConnectionQueue
from wmsd.db.engine.work import Work

READERS: Final = 3
"""The maximum number of readers. The first one runs all reads that are not quick. The others are used while the
first one is busy.
"""

OpenReader = Callable[[int], Awaitable[ConnectionQueue]]


class ThreadReaders:
    """The thread readers of one file. `open_reader` opens a reader. Its parameter is the maximum number of reads
    in a group.

    `opening` is a lock that is held while connections are opened or closed. `counted` is called with the number of
    opened connections.
    """

    def __init__(self, open_reader: OpenReader, opening: asyncio.Lock, counted: Callable[[int], None]) -> None:
        self._open_reader = open_reader
        self._opening = opening
        self._counted = counted
        self._readers: list[ConnectionQueue] = []
        self._searcher: ConnectionQueue | None = None
        self._handed_over: set[asyncio.Task[None]] = set()

    async def reader(self) -> ConnectionQueue:
        """Return a reader that is not busy. If all readers are busy, open another one. If there are already
        `READERS`, return the one that was opened last.

        If no reader is open and none can be opened, raise the error that prevented the opening.
        """
        free = self._free_reader()
        if free is not None:
            return free
        async with self._opening:
            if len(self._readers) < READERS:
                try:
                    self._readers.append(await self._open_reader(LARGEST_READ_GROUP))
                except Exception:
                    if not self._readers:
                        raise
                else:
                    self._counted(1)
            return self._free_reader() or self._readers[-1]

    async def searcher(self) -> ConnectionQueue:
        """Return the reader for searches, and open it if necessary. Raise an error if it cannot be opened."""
        async with self._opening:
            if self._searcher is None:
                self._searcher = await self._open_reader(1)
                self._counted(1)
            return self._searcher

    def hand_over(self, work: Work, or_else: Callable[[Work], None] = Work.settle) -> None:
        """Start the work on a reader, and return without waiting for its end.

        If there is no reader, set the error, and call `or_else` with the work.
        """
        task = asyncio.ensure_future(self._read(work, or_else))
        self._handed_over.add(task)
        task.add_done_callback(self._handed_over.discard)

    async def finish_handing_over(self) -> None:
        """Wait until a reader has taken all the work that was passed to `hand_over`."""
        while self._handed_over:
            await asyncio.wait(self._handed_over)

    @property
    def are_open(self) -> bool:
        """True if at least one reader is open, so that work need not wait for a new connection."""
        return bool(self._readers)

    @property
    def is_handing_over(self) -> bool:
        return bool(self._handed_over)

    @property
    def queues(self) -> list[ConnectionQueue]:
        return [*self._readers, *([] if self._searcher is None else [self._searcher])]

    def take(self) -> list[ConnectionQueue]:
        """Remove all readers from this object, and return them. The caller must close them."""
        queues = self.queues
        self._readers, self._searcher = [], None
        return queues

    async def _read(self, work: Work, or_else: Callable[[Work], None]) -> None:
        try:
            (await self.reader()).take(work)
        except Exception as error:  # files or threads may run out; the waiting caller must get an answer
            work.error = error
            or_else(work)

    def _free_reader(self) -> ConnectionQueue | None:
        return next((reader for reader in self._readers if not reader.is_held_up), None)
