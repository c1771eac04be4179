"""One SQLite file, for units of work that read or write it."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from wmsd.base.clock import OrderedClock
from wmsd.base.ids import Ids
from wmsd.contract.context import PROGRAM, Actor
from wmsd.db.engine.failures import FileMoved, StorageError, is_of_disk
from wmsd.db.engine.file_connections import FileConnections
from wmsd.db.engine.sqlite import LOG_BYTES, log_bytes, sqlite3
from wmsd.db.engine.staging import Staging, StagingFolder
from wmsd.db.engine.transaction import Provision, Transaction
from wmsd.db.engine.worker_threads import Workers

Result = TypeVar("Result")
MakeRoom = Callable[[], bool]
MOST_LOG_BYTES = 256 * 1024 * 1024
"""How much the write-ahead log may grow during one long read, in bytes."""
LOOK_AT_LOG_SECONDS = 1.0


class Database(FileConnections):
    """The database in one SQLite file. The file must exist and be migrated (see `db/migrations/__init__.py`)."""

    def __init__(
        self,
        path: Path,
        clock: OrderedClock,
        ids: Ids,
        after_commit: Callable[[], None] | None = None,
        provision: Provision = MappingProxyType({}),
        make_room: MakeRoom | None = None,
        uses_reserve: bool = False,
        moved: Callable[[FileMoved], None] | None = None,
        alone: bool = False,
        workers: Workers | None = None,
        counted: Callable[[FileConnections, int], None] | None = None,
        who: Actor = PROGRAM,
    ) -> None:
        """Create the database object. Parameters that are not described here are those of `FileConnections`.

        `make_room` is called on a full disk, for writes that may use the emergency space reserve. It returns True
        if there is space now. If `uses_reserve` is True, all writes may use the reserve. `who` is the default
        actor of changes.
        """
        super().__init__(path, clock, ids, provision, after_commit, moved, alone, workers, counted)
        self._make_room = make_room
        self._uses_reserve = uses_reserve
        self._who = who

    def write(
        self,
        action: Callable[[Transaction], Result],
        actor: Actor | None = None,
        may_use_reserve: bool = False,
        is_quiet: bool = False,
        may_repeat: bool = False,
    ) -> Awaitable[Result]:
        """Run the action as a unit of work. Return its result after the commit.

        If the action raises an error, roll back its changes and raise the error. If `is_quiet` is True,
        `after_commit` need not be called for this write.

        If `may_repeat` is True, the action must have no effect except its changes of the file and its result, and
        must raise the errors of SQLite. The event loop then runs the action. If it takes too long, its changes are
        rolled back, and a thread runs it from the beginning.
        """
        self.last_used, actor = self._clock.monotonic(), actor or self._who
        write_first = partial(self._write_first, action, actor, is_quiet, may_repeat)
        first: Awaitable[Result]
        if self._writer is None:
            first = write_first()
        else:
            first = self._writer.submit(action, actor, is_quiet=is_quiet, may_repeat=may_repeat)
        if self._make_room is None or not (may_use_reserve or self._uses_reserve):
            return first
        return self._write_in_reserve(first, self._make_room, write_first)

    async def _write_in_reserve(
        self, first: Awaitable[Result], make_room: MakeRoom, write_again: Callable[[], Awaitable[Result]]
    ) -> Result:
        try:
            return await first
        except sqlite3.Error as error:
            if not is_of_disk(error) or not make_room():
                raise
        return await write_again()

    async def _write_first(
        self, action: Callable[[Transaction], Result], actor: Actor, is_quiet: bool, may_repeat: bool
    ) -> Result:
        writer = await self.open_writer()
        return await writer.submit(action, actor, is_quiet=is_quiet, may_repeat=may_repeat)

    def read(
        self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM, until: float = math.inf
    ) -> Awaitable[Result]:
        """Run the action on one snapshot, and return its result. The snapshot contains every commit before this
        call.

        An action that takes too long is interrupted, and runs again from its beginning on a thread. Therefore the
        action must have no effect except its result. `until` is a time limit on the clock of `time.monotonic`.
        Raise OutOfTime if the limit has passed.
        """
        self.last_used = self._clock.monotonic()
        return self._inline_reader.submit(action, actor, until)

    async def search(
        self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM, until: float = math.inf
    ) -> Result:
        """Run an action that queries a full-text index, and return its result as `read` does.

        Such a query can only be interrupted from another thread, so it never runs on the event loop. All searches
        of a file share a separate connection. Therefore they do not delay other reads.
        """
        self.last_used = self._clock.monotonic()
        return await (await self._readers.searcher()).submit(action, actor, until)

    async def read_long(self, action: Callable[[Transaction], Result], actor: Actor = PROGRAM) -> Result:
        """Run the action on a thread, and return its result as `read` does. The action runs only once.

        Use this for reads that take long or have an effect, such as an export. During the read, the write-ahead
        log cannot restart from its beginning, so it may grow. Raise StorageError if it grows by more than
        `MOST_LOG_BYTES`.
        """
        self.last_used = self._clock.monotonic()
        began_at = log_bytes(self.path)
        reading = (await self._readers.reader()).submit(action, actor)
        while not (await asyncio.wait([reading], timeout=LOOK_AT_LOG_SECONDS))[0]:
            if log_bytes(self.path) > began_at + MOST_LOG_BYTES:
                reading.cancel()
                raise StorageError(
                    f"This read was stopped, because over {MOST_LOG_BYTES // 1024**2} MB of changes were "
                    f"written to {self.path.name} in the meantime. Try again when fewer changes are written."
                )
        return await reading

    def staging(
        self, actor: Actor = PROGRAM, of_copy: bool = False, folder: StagingFolder | None = None
    ) -> Staging:
        """Return a new connection for writing many rows in one transaction (see `Staging`).

        The connection can be used even after this database is closed.
        """
        return Staging(self.path, self._clock, self._ids, self._provision, actor, of_copy, folder)

    async def try_to_write(self) -> None:
        """Check whether the disk can be written: commit a write that changes nothing. Raise the same errors as
        `write`.
        """

        def write_version(tx: Transaction) -> None:
            tx.execute(f"PRAGMA user_version = {tx.value('PRAGMA user_version')}")

        await self.write(write_version)

    async def write_log_back(self) -> None:
        """If the write-ahead log is long, copy its pages into the database file.

        Raise the same errors as `write`. Raise sqlite3.Error if the pages cannot be copied.

        The writer also does this after commits, but without reporting errors.
        """
        if log_bytes(self.path) <= LOG_BYTES:
            return
        await self.try_to_write()
        if self._log is not None and self._log.failure is not None:
            raise self._log.failure

    async def data_version(self) -> tuple[int, int, int]:
        """Return a value that changes when another process commits. The value may change at other times too."""
        return self._openings, *await self.read(Transaction.data_version)
