"""The connections to a SQLite file: a writer, an inline reader, and a few readers on threads.

Each connection is opened when it is first needed. A file is open in one of two modes: shared with other processes,
or not shared. When the mode changes, all connections are closed and reopened.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.ids import Ids
from wmsd.db.engine.connection_queue import ConnectionQueue
from wmsd.db.engine.failures import FileMoved
from wmsd.db.engine.inline_reader import InlineReader
from wmsd.db.engine.last_writes import Writes
from wmsd.db.engine.replaced_files import Standing, keep_log, keep_replaced_file
from wmsd.db.engine.snapshots import Snapshot, Snapshots
from wmsd.db.engine.sqlite import CACHE_KIB, THREAD_CACHE_KIB, connect, sqlite3
from wmsd.db.engine.thread_readers import ThreadReaders
from wmsd.db.engine.transaction import Provision, Transaction
from wmsd.db.engine.unit_of_work import CommitGroup, read_group, read_unit_in_time
from wmsd.db.engine.work import GroupRunner, RunningRead, Work
from wmsd.db.engine.worker_threads import Workers, WorkerThreads
from wmsd.db.engine.write_ahead_log import WriteAheadLog

Result = TypeVar("Result")
DESCRIPTORS_OF_A_CONNECTION = 2
"""The number of file descriptors of a connection: one for the file and one for its write-ahead log. All
connections share one more descriptor, for the log's index.
"""
PATIENCE_SECONDS = 10.0
"""How many seconds `share` waits until the open snapshots of the file are released. After that, it closes the
snapshots and reopens the file.
"""
STATES: Final = count()
"""A counter for `FileConnections.state`. Each new state of any file gets the next number."""


class FileConnections:
    """The connections to one SQLite file.

    The file must exist and be migrated (see `db/migrations/__init__.py`).
    """

    def __init__(
        self,
        path: Path,
        clock: OrderedClock,
        ids: Ids,
        provision: Provision,
        after_commit: Callable[[], None] | None,
        moved: Callable[[FileMoved], None] | None,
        alone: bool,
        workers: Workers | None,
        counted: "Callable[[FileConnections, int], None] | None",
    ) -> None:
        """Create the object without opening a connection.

        - `moved` is called when the file was removed or replaced while in use.
        - `alone`: no other process may open the file, except while this process shares it.
        - `workers` are threads that are shared with other files. If None, the file has its own threads, and quick
          reads never use the writer's connection. aiosqlite then owns all connections except that of quick reads.
        - `counted` is called with this object and the number of opened connections. The number is negative if
          connections were closed.
        """
        self.path = path
        self.after_commit = after_commit
        self._clock = clock
        self._ids = ids
        self._provision = provision
        self._moved = moved
        self._alone = alone
        self._counted_by = counted
        self._workers = workers or Workers()
        self._has_own_workers = workers is None
        self._lent = 0
        self._is_to_be_shared = False
        self._is_shared = False
        """True if the connections are open in a mode in which other processes can use the file too."""
        self._openings = 0
        self._keeps_reader = False
        self._writer: ConnectionQueue | None = None
        self._closing_writer: ConnectionQueue | None = None
        self._log: WriteAheadLog | None = None
        self.standing = Standing(path)
        self._opening = asyncio.Lock()
        self._readers = ThreadReaders(self._open_reader, self._opening, self._counted)
        self._inline_reader = InlineReader(
            path,
            clock,
            ids,
            provision,
            self.standing,
            self._readers,
            self.begin,
            writer=lambda: self._writer if not self._has_own_workers else None,
            threads=self._workers.readers,
            turn=self._workers.turn,
            counted=self._counted,
        )
        self._sharing = asyncio.Lock()
        self._pins = Snapshots(self._workers.readers)
        self.is_retired = False
        """True if the connections were closed permanently."""
        self.last_used = 0.0
        self.writes = Writes()
        self._state = next(STATES)

    @property
    def is_open(self) -> bool:
        return self._writer is not None or self._inline_reader.is_open or bool(self._queues())

    @property
    def is_idle(self) -> bool:
        return (
            self._inline_reader.is_idle
            and not self._readers.is_handing_over
            and self._pins.are_none
            and not self._opening.locked()
            and not self._sharing.locked()
            and all(queue.is_idle for queue in self._queues())
        )

    @property
    def is_writing(self) -> bool:
        """True if the current group of writes has been running for so long that quick work should not wait for it.
        This is also True if the group runs on a writer that is being closed.

        Any thread may read this property.
        """
        return any(each is not None and each.is_held_up for each in (self._writer, self._closing_writer))

    @property
    def state(self) -> int | None:
        """A number that identifies the present content of the file. As long as the number stays the same, so does
        the result of a read.

        None while the file is being written, or while another process may write it. The property does not check
        whether the file still exists.
        """
        if self._writer is None or not self._writer.is_idle or not self._alone or self._is_shared:
            return None
        return self._state

    def is_standing(self) -> bool:
        """Return True if the open file still exists at its path. Otherwise call `moved` and return False."""
        try:
            self.standing.check()
        except FileMoved as moved:
            if self._moved is not None:
                self._moved(moved)
            return False
        return True

    def begin(self) -> bool:
        """Record the state of the file, if no connection is open yet. Call this directly before opening a
        connection.

        Return True if the connection must keep other processes from opening the file. Raise FileMoved if this
        object was closed permanently (see `retire`).
        """
        if self.is_retired:
            raise FileMoved(self.path)
        alone = self._alone and not self._is_shared
        if not self.is_open:
            self._state = next(STATES)
            self.standing.begin(alone)
        return alone

    async def open(self) -> None:
        """Open the writer, so that the database counts as open. Raise the errors of opening.

        If the file has its own threads, such as `platform.db`, also open a connection for slow reads and keep it
        open. All parts of wmsd need `platform.db`, and later there may be too few resources to open a connection.
        """
        await self.open_writer()
        if self._has_own_workers:
            self._keeps_reader = True
            await self._readers.reader()

    async def open_writer(self) -> ConnectionQueue:
        """Open and return the writer.

        From then on, `write` queues work immediately, so that work runs in the order of calls.
        """
        if self._writer is not None:
            return self._writer
        async with self._opening:
            if self._writer is None:
                commits = self._commits()
                writer = await self._open(self._workers.writers, commits, read_only=False)
                return self._begin_to_write(writer, commits)
            return self._writer

    def take_writer(self, connection: sqlite3.Connection) -> None:
        """Use this connection as the writer. The database must have no writer.

        The caller must call `begin` before it opens the connection.
        """
        self.last_used = self._clock.monotonic()
        commits = self._commits()
        self._begin_to_write(ConnectionQueue(connection, self._workers.writers, commits), commits)

    def _commits(self) -> CommitGroup:
        return CommitGroup(self._clock, self._ids, self._provision, self.standing)

    def _begin_to_write(self, writer: ConnectionQueue, commits: CommitGroup) -> ConnectionQueue:
        writer.gathers = True
        writer.after_group = self._committed
        if not self._has_own_workers:
            writer.quick, writer.turn = commits, self._workers.write_turn
        writer.when_idle = self._inline_reader.go_on
        self._writer, self._log = writer, commits.log
        self._counted(1)
        return writer

    def _committed(self, group: list[Work]) -> None:
        self._state = next(STATES)  # before any caller learns of the commit
        self.writes.note(group, self._clock.now())
        if self._moved is not None and self.standing.moved is not None:
            self._moved(self.standing.moved)
        if self.after_commit is not None and not all(work.is_quiet for work in group):
            self.after_commit()

    async def _open_reader(self, largest_group: int) -> ConnectionQueue:
        under_way = RunningRead()
        run_group = read_group(
            self._clock, self._ids, self._provision, self.standing, read_unit_in_time(under_way)
        )
        reader = await self._open(self._workers.readers, run_group, read_only=True)
        reader.largest_group, reader.under_way = largest_group, under_way
        return reader

    async def _open(self, workers: WorkerThreads, run_group: GroupRunner, read_only: bool) -> ConnectionQueue:
        connect = partial(_opened, self.path, read_only, self.begin())
        open_queue = ConnectionQueue.open_owned if self._has_own_workers else ConnectionQueue.open
        return await open_queue(workers, connect, run_group)

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return len(self._queues()) + self._inline_reader.is_open

    @property
    def can_close_readers(self) -> bool:
        """True if there are connections in addition to the writer."""
        return self._writer is not None and self.connections > 1

    async def close_readers(self) -> None:
        """Close all connections except the writer's connection. Reads then use the writer's connection too."""
        async with self._opening:
            if self._writer is None:
                return
            await self._inline_reader.close()
            await self._close_each(self._readers.take())

    async def close(self) -> None:
        """Wait for work in progress, then close all connections. If another program has overwritten the file, move
        the file's write-ahead log aside.
        """
        self._keeps_reader = False
        async with self._sharing:  # a state may be about to be held
            await self._close()

    async def _close(self) -> None:
        log_keeper = None
        if self.is_open and self.standing.is_overwritten():
            log_keeper = await asyncio.to_thread(keep_log, self.path, self._clock.now())
        await self._pins.end(0)
        await self._inline_reader.close()
        await self._readers.finish_handing_over()
        async with self._opening:
            await self._close_queues()
            if log_keeper is not None:
                await asyncio.to_thread(log_keeper.close)
            if not self.is_open:
                self.standing.leave()
        if self._has_own_workers:
            self._workers.close()

    async def retire(self) -> None:
        """Close the connections permanently, because another object will open the file.

        Later calls raise FileMoved. Otherwise a caller that still has this object would open connections that
        `share` of the other object does not close.
        """
        self.is_retired = True
        await self.close()

    async def keep(self, path: Path) -> bool:
        """Copy all changes from the write-ahead log into the file. If the file was deleted, write a copy to `path`
        instead.

        Return True if a copy was written. Raise sqlite3.Error or OSError if that fails.
        """
        queues = self._queues()
        run_last = queues[-1].run_last if queues else self._inline_reader.run_last
        return await run_last(lambda connection: keep_replaced_file(connection, self.standing, path))

    def _queues(self) -> list[ConnectionQueue]:
        return [*self._readers.queues, *([] if self._writer is None else [self._writer])]

    def _counted(self, change: int) -> None:
        if self._counted_by is not None:
            self._counted_by(self, change)

    async def _close_queues(self) -> None:
        queues = [*self._readers.take(), *([] if self._writer is None else [self._writer])]
        self._closing_writer, self._writer = self._writer, None
        await self._close_each(queues)
        self._closing_writer = None

    async def _close_each(self, queues: list[ConnectionQueue]) -> None:
        self._counted(-len(queues))
        for queue in queues:
            await queue.close()

    async def lend(self) -> None:
        """Share the file with other processes. The sharing ends when `take_back` has been called as often as
        `lend`.
        """
        self._lent += 1
        await self.share(True)

    async def take_back(self) -> None:
        self._lent -= 1
        await self.share(self._lent > 0)

    async def share(self, is_shared: bool) -> None:
        """Reopen the file in another mode. If `is_shared` is True, other processes can use the file too. Otherwise
        no other process can.

        The new mode applies when this method returns.
        """
        self._is_to_be_shared = is_shared
        async with self._sharing:
            if self._is_shared != self._is_to_be_shared:
                await self._pins.end(PATIENCE_SECONDS)
                await self._reopen()
        if self._keeps_reader:
            with suppress(Exception):  # the next caller that needs the reader gets the error
                await self._readers.reader()

    async def _reopen(self) -> None:
        """Close all connections. The next work opens them in the new mode. Work that arrives meanwhile waits."""
        async with self._opening:
            self._openings += 1
            self._inline_reader.is_paused = True
            try:
                await self._inline_reader.close()
                await self._close_queues()
                self.standing.forget_content()
                self._is_shared = self._is_to_be_shared
            finally:
                self._inline_reader.is_paused = False

    @asynccontextmanager
    async def pinned(self) -> AsyncIterator[Snapshot]:
        """Yield a snapshot of the file as it was after the last commit. The snapshot can be read and copied while
        this context is open.

        The snapshot is closed earlier if the file must be closed. Raise sqlite3.Error or StorageError if the
        snapshot cannot be taken.
        """
        self.last_used = self._clock.monotonic()
        async with self._sharing:
            await self.open_writer()
            self.standing.check()
            held = await self._pins.begin(self.path, self.begin())
        try:
            yield held
        finally:
            await self._pins.release(held)

    async def read_pinned(self, held: Snapshot, action: Callable[[Transaction], Result]) -> Result:
        """Run the action on a snapshot that `pinned` has yielded, on a thread. Return its result."""
        return await self._workers.readers.run(partial(held.read, action))


def _opened(path: Path, read_only: bool, alone: bool) -> sqlite3.Connection:
    # A reader of a WAL database may have to create the -shm file, so it opens for writing and is then restricted.
    connection = connect(path, cache_kib=THREAD_CACHE_KIB if read_only else CACHE_KIB, alone=alone)
    if read_only:
        connection.execute("PRAGMA query_only = ON")
    else:
        prepare_writer(connection)
    return connection


def prepare_writer(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA busy_timeout = 0")  # the event loop reads with it; see `begin_to_write`
