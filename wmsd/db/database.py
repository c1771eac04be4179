"""One SQLite file: a writer, a quick reader, a few readers with threads; each opened when it is first needed."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.context import PROGRAM, Actor
from wmsd.base.ids import Ids
from wmsd.db.failures import is_of_disk
from wmsd.db.lane import LARGEST_READ_GROUP, GroupRunner, HopConnection, Lane, UnderWay, Work
from wmsd.db.quick_reader import QuickReader
from wmsd.db.sqlite import CACHE_KIB, THREAD_CACHE_KIB, connect, sqlite3
from wmsd.db.staging import Staging
from wmsd.db.transaction import Provision, Transaction
from wmsd.db.unit_of_work import commit_group, read_group, read_unit_in_time

Result = TypeVar("Result")
MakeRoom = Callable[[], bool]
READERS = 3
"""The first does all that is not quick; the others join while it is held up."""


class Database:
    """The file must exist and be migrated (see `migrations.py`)."""

    def __init__(
        self,
        path: Path,
        clock: OrderedClock,
        ids: Ids,
        after_commit: Callable[[], None] | None = None,
        provision: Provision = MappingProxyType({}),
        make_room: MakeRoom | None = None,
        uses_reserve: bool = False,
    ) -> None:
        """`make_room` is asked on a full disk, for writes that may use the reserve: whether there is room now.

        `uses_reserve`: whether all of them may.
        """
        self.path = path
        self.after_commit = after_commit
        self._clock = clock
        self._ids = ids
        self._provision = provision
        self._make_room = make_room
        self._uses_reserve = uses_reserve
        self._writer: Lane | None = None
        self._quick_reader = QuickReader(path, clock, ids, provision, self._hand_over)
        self._readers: list[Lane] = []
        self._searcher: Lane | None = None
        self._handed_over: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()
        self.last_used = 0.0

    def write(
        self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM, may_use_reserve: bool = False
    ) -> Awaitable[Result]:
        """The action's result, once it is on disk. Raises what the action raises, with nothing changed."""
        self.last_used = self._clock.monotonic()
        first = self._write_first(action, actor) if self._writer is None else self._writer.submit(action, actor)
        if self._make_room is None or not (may_use_reserve or self._uses_reserve):
            return first
        return self._write_in_reserve(first, self._make_room, action, actor)

    async def _write_in_reserve(
        self, first: Awaitable[Result], make_room: MakeRoom, action: Callable[[Transaction], Result], actor: Actor
    ) -> Result:
        try:
            return await first
        except sqlite3.Error as error:
            if not is_of_disk(error) or not make_room():
                raise
        return await self._write_first(action, actor)

    async def _write_first(self, action: Callable[[Transaction], Result], actor: Actor) -> Result:
        writer = await self.open_writer()
        result: Result = await writer.submit(action, actor)
        return result

    def read(
        self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM, until: float = math.inf
    ) -> Awaitable[Result]:
        """The action's result over one snapshot that holds all that was committed before this call.

        An action that is not quick is begun twice: it must have no effect but its result. `until` is a moment of
        `time.monotonic`. Raises OutOfTime after it.
        """
        self.last_used = self._clock.monotonic()
        return self._quick_reader.submit(action, actor, until)

    async def search(
        self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM, until: float = math.inf
    ) -> Result:
        """As `read`, for what asks a full-text index, which stops for nothing but an interruption.

        All of a file are done on one thread of their own, so that they hold up no other reads.
        """
        self.last_used = self._clock.monotonic()
        async with self._opening:
            if self._searcher is None:
                self._searcher = await self._open_reader(largest_group=1)
        result: Result = await self._searcher.submit(action, actor, until)
        return result

    async def read_long(self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM) -> Result:
        """As `read`, on a thread at once, for what is long or has an effect, such as an export."""
        self.last_used = self._clock.monotonic()
        reader = await self._reader()
        result: Result = await reader.submit(action, actor)
        return result

    def _hand_over(self, work: Work) -> None:
        task = asyncio.ensure_future(self._read_elsewhere(work))
        self._handed_over.add(task)
        task.add_done_callback(self._handed_over.discard)

    async def _read_elsewhere(self, work: Work) -> None:
        try:
            (await self._reader()).take(work)
        except Exception as error:  # files or threads may be short; who waits must hear
            work.error = error
            work.settle()

    def staging(self) -> Staging:
        """For many rows at once: see there. It outlives this."""
        return Staging(self.path, self._clock, self._ids, self._provision)

    async def data_version(self) -> int:
        """Changes when another connection has committed, be it of another process."""
        version: int = await self.read(lambda tx: tx.value("PRAGMA data_version"))
        return version

    @property
    def is_open(self) -> bool:
        return self._quick_reader.is_open or bool(self._lanes())

    @property
    def is_idle(self) -> bool:
        return (
            self._quick_reader.is_idle
            and not self._handed_over
            and not self._opening.locked()
            and all(lane.is_idle for lane in self._lanes())
        )

    def _committed(self) -> None:
        if self.after_commit is not None:
            self.after_commit()

    def _lanes(self) -> list[Lane]:
        return [*self._readers, *(lane for lane in (self._searcher, self._writer) if lane is not None)]

    async def close(self) -> None:
        """Waits for what is under way. The one place where connections, and so their threads, end."""
        self._quick_reader.close()
        while self._handed_over:
            await asyncio.wait(self._handed_over)
        async with self._opening:
            lanes = self._lanes()
            self._readers, self._searcher, self._writer = [], None, None
            for lane in lanes:
                await lane.close()

    async def open_writer(self) -> Lane:
        """After it, `write` hands over at once: what is written first runs first."""
        if self._writer is not None:
            return self._writer
        async with self._opening:
            if self._writer is None:
                self._writer = await self._open(
                    commit_group(self._clock, self._ids, self._provision), read_only=False
                )
                self._writer.after_group = self._committed
            return self._writer

    async def _reader(self) -> Lane:
        free = self._free_reader()
        if free is not None:
            return free
        async with self._opening:
            if len(self._readers) < READERS:
                self._readers.append(await self._open_reader(LARGEST_READ_GROUP))
            return self._free_reader() or self._readers[-1]

    async def _open_reader(self, largest_group: int) -> Lane:
        under_way = UnderWay()
        run_group = read_group(self._clock, self._ids, self._provision, read_unit_in_time(under_way))
        lane = await self._open(run_group, read_only=True)
        lane.largest_group, lane.under_way = largest_group, under_way
        return lane

    def _free_reader(self) -> Lane | None:
        return next((lane for lane in self._readers if not lane.is_held_up), None)

    async def _open(self, run_group: GroupRunner, read_only: bool) -> Lane:
        connection = HopConnection(partial(_opened, self.path, read_only), iter_chunk_size=64)
        await connection
        return Lane(connection, run_group)


def _opened(path: Path, read_only: bool) -> sqlite3.Connection:
    # A reader of a WAL database may have to make the -shm file, so it opens to write and is then bound.
    connection = connect(path, cache_kib=THREAD_CACHE_KIB if read_only else CACHE_KIB)
    if read_only:
        connection.execute("PRAGMA query_only = ON")
    return connection
