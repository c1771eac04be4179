"""One SQLite file: a writer, a few readers, opened when they are first needed."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.context import PROGRAM, Actor
from wmsd.base.ids import Ids
from wmsd.db.lane import LARGEST_READ_GROUP, GroupRunner, HopConnection, Lane
from wmsd.db.sqlite import connect, sqlite3
from wmsd.db.transaction import Transaction
from wmsd.db.unit_of_work import commit_group, read_group

Result = TypeVar("Result")
READERS = 3
"""The first does all that is quick; the others join while it is held up by something long."""


class Database:
    """The file must exist and be migrated (see `migrations.py`)."""

    def __init__(
        self, path: Path, clock: OrderedClock, ids: Ids, after_commit: Callable[[], None] | None = None
    ) -> None:
        self.path = path
        self.after_commit = after_commit
        self._clock = clock
        self._ids = ids
        self._writer: Lane | None = None
        self._readers: list[Lane] = []
        self._opening = asyncio.Lock()
        self.last_used = 0.0

    def write(self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM) -> Awaitable[Result]:
        """The action's result, once it is on disk. Raises what the action raises, with nothing changed."""
        self.last_used = self._clock.monotonic()
        if self._writer is None:
            return self._write_first(action, actor)
        return self._writer.submit(action, actor)

    async def _write_first(self, action: Callable[[Transaction], Result], actor: Actor) -> Result:
        writer = await self._open_writer()
        result: Result = await writer.submit(action, actor)
        return result

    def read(self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM) -> Awaitable[Result]:
        """The action's result over one snapshot that holds all that was committed before this call."""
        self.last_used = self._clock.monotonic()
        for reader in self._readers:
            if not reader.is_held_up:
                return reader.submit(action, actor)
        return self._read_elsewhere(action, actor)

    async def _read_elsewhere(self, action: Callable[[Transaction], Result], actor: Actor) -> Result:
        reader = await self._add_reader()
        result: Result = await reader.submit(action, actor)
        return result

    async def data_version(self) -> int:
        """Changes when another connection has committed, be it of another process. Always asks one reader:
        each connection counts for itself.
        """
        reader = self._readers[0] if self._readers else await self._add_reader()
        version: int = await reader.submit(lambda tx: tx.value("PRAGMA data_version"), PROGRAM)
        return version

    @property
    def is_open(self) -> bool:
        return bool(self._lanes())

    @property
    def is_idle(self) -> bool:
        return not self._opening.locked() and all(lane.is_idle for lane in self._lanes())

    def _committed(self) -> None:
        if self.after_commit is not None:
            self.after_commit()

    def _lanes(self) -> list[Lane]:
        return self._readers if self._writer is None else [*self._readers, self._writer]

    async def close(self) -> None:
        """Waits for what is under way. The one place where connections, and so their threads, end."""
        async with self._opening:
            lanes = self._lanes()
            self._readers, self._writer = [], None
            for lane in lanes:
                await lane.close()

    async def _open_writer(self) -> Lane:
        async with self._opening:
            if self._writer is None:
                self._writer = await self._open(commit_group(self._clock, self._ids), read_only=False)
                self._writer.after_group = self._committed
            return self._writer

    async def _add_reader(self) -> Lane:
        async with self._opening:
            if len(self._readers) < READERS:
                lane = await self._open(read_group(self._clock, self._ids), read_only=True)
                lane.largest_group = LARGEST_READ_GROUP
                self._readers.append(lane)
            return next((lane for lane in self._readers if not lane.is_held_up), self._readers[-1])

    async def _open(self, run_group: GroupRunner, read_only: bool) -> Lane:
        def opened() -> sqlite3.Connection:
            # A reader of a WAL database may have to make the -shm file, so it opens to write and is then bound.
            connection = connect(self.path)
            if read_only:
                connection.execute("PRAGMA query_only = ON")
            return connection

        connection = HopConnection(opened, iter_chunk_size=64)
        await connection
        return Lane(connection, run_group)
