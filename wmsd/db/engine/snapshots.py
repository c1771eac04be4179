"""Snapshots of a file: wmsd keeps them readable while others write, so that another process can copy the file.

SQLite's online backup restarts whenever another connection writes, so it might never end on a busy server. A
snapshot avoids this with a read transaction. As long as the transaction is open, the write-ahead log does not
restart, and no newer page is copied from the log into the file. Therefore the snapshot consists of the bytes of
the file, and of the log up to the last commit before the snapshot. See https://sqlite.org/wal.html, sections 2.1
and 2.2.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.replaced_files import READ, Identity, identity
from wmsd.db.engine.sqlite import connect, sqlite3
from wmsd.db.engine.transaction import Transaction, lone_transaction
from wmsd.db.engine.unit_of_work import begin_to_write
from wmsd.db.engine.wal_frames import FRAME_HEADER_BYTES, LOG_HEADER_BYTES
from wmsd.db.engine.worker_threads import WorkerThreads
from wmsd.db.engine.write_ahead_log import LOOK, NAME_COPY

Result = TypeVar("Result")
NAME_PAGE: Final = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'log'"
AGAIN_SECONDS: Final = 0.005


class Extent(NamedTuple):
    """The bytes of a snapshot: the whole file, and the first `log_bytes` of its write-ahead log. Pages in the log
    replace those of the file.

    If `log_bytes` is 0, the snapshot needs no log. `name_page` is the number of the page that contains the name of
    the log (see `write_ahead_log.py`), or 0 if there is no such page.
    """

    file: Identity
    log_bytes: int
    name_page: int = 0


class Snapshot:
    """A snapshot of a file. It stays the same until `close`. Any thread may use it."""

    def __init__(self, path: Path, connection: sqlite3.Connection, extent: Extent) -> None:
        self.path = path
        self.extent = extent
        self._connection: sqlite3.Connection | None = connection
        self._lock = threading.Lock()

    @property
    def is_held(self) -> bool:
        return self._connection is not None

    def read(self, action: Callable[[Transaction], Result]) -> Result:
        """Run the action on the snapshot, and return its result.

        Raise sqlite3.Error, or StorageError if the snapshot was closed.
        """
        with self._held() as connection:
            return action(lone_transaction(connection))

    def copy_without(self, path: Path, statements: Iterable[str]) -> None:
        """Write a copy of the snapshot to `path`, but first delete some data from the copy with `statements`.

        The statements run on a copy in memory, so the written file contains no trace of the deleted data. The log
        name in the written file is new, so no existing write-ahead log belongs to this file (see
        `write_ahead_log.py`). Raise the same errors as `read`. Raise StorageError if `path` cannot be written.
        """
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
            with self._held() as connection:
                connection.backup(memory)
            for statement in (*statements, *([NAME_COPY] if self.extent.name_page else [])):
                memory.execute(statement)
            path.touch(0o600, exist_ok=False)
            try:
                memory.execute("VACUUM INTO ?", (str(path),))
            except sqlite3.Error as error:
                raise StorageError(f"{path} cannot be written: {error}.") from error

    @contextmanager
    def _held(self) -> Iterator[sqlite3.Connection]:
        """Yield the snapshot's connection. While this context is open, no other thread can use the connection.
        Raise StorageError if the snapshot was closed.
        """
        with self._lock:
            if self._connection is None:
                raise StorageError(f"The snapshot of {self.path} is no longer available. Try again.")
            yield self._connection

    def close(self) -> None:
        """Close the snapshot, and interrupt a running `read`."""
        connection, self._connection = self._connection, None
        if connection is not None:
            while not self._lock.acquire(timeout=AGAIN_SECONDS):  # a read may be between two statements
                connection.interrupt()
            try:
                connection.close()
            finally:
                self._lock.release()


def hold_snapshot(path: Path, *, alone: bool = False) -> Snapshot:
    """Take a snapshot of the file as it is after the last commit. The caller must close the snapshot.

    `alone` must be the same as for all other connections of this process to the file. If another connection is
    writing, wait for a short time. Raise sqlite3.Error or StorageError if the snapshot cannot be taken.
    """
    found = identity(path)
    if found is None:
        raise StorageError(f"{path} is missing.")
    connection = connect(path, alone=alone)
    try:
        connection.execute("PRAGMA query_only = ON")
        log_bytes = _begin(connection, path, alone)
        [name_page] = connection.execute(NAME_PAGE).fetchone() or (0,)
        held = Snapshot(path, connection, Extent(found, log_bytes, name_page))
        if identity(path) != found:
            raise StorageError(f"{path} was replaced while wmsd took a snapshot of it. Try again.")
        return held
    except BaseException:
        connection.close()
        raise


def read_state(path: Path, action: Callable[[Transaction], Result]) -> Result:
    """Run the action on a snapshot of the file after the last commit, and return its result.

    Raise the same errors as `hold_snapshot`.
    """
    with closing(hold_snapshot(path)) as state:
        return state.read(action)


def _begin(connection: sqlite3.Connection, path: Path, alone: bool) -> int:
    """Begin to read on `connection`. Return how many bytes of the write-ahead log belong to the snapshot.

    During this call no other connection can write, so the log does not grow. Return 0 if the whole log was already
    copied into the file. In this case the file alone contains the snapshot, and SQLite does not write into the
    file as long as `connection` is open.
    """
    with (
        closing(connect(path, alone=alone, busy_seconds=0)) as writer,
        closing(connect(path, alone=alone)) as looker,
    ):
        begin_to_write(writer)  # keeps other connections from writing
        connection.execute("BEGIN")
        connection.execute(READ).fetchone()
        _, frames, written = looker.execute(LOOK).fetchone()
        [page_bytes] = looker.execute("PRAGMA page_size").fetchone()
        if frames <= written:
            return 0
        return int(LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + page_bytes))


class Snapshots:
    """The open snapshots of one file.

    Threads of `workers` open and close the snapshots, because this may wait for the disk.
    """

    def __init__(self, workers: WorkerThreads) -> None:
        self._workers = workers
        self._held: set[Snapshot] = set()
        self._none_held = asyncio.Event()
        self._none_held.set()

    @property
    def are_none(self) -> bool:
        return not self._held

    async def begin(self, path: Path, alone: bool) -> Snapshot:
        """Take a snapshot of the file and keep it until `release`. Raise the same errors as `hold_snapshot`."""
        held = await self._workers.open(partial(hold_snapshot, path, alone=alone))
        self._held.add(held)
        self._none_held.clear()
        return held

    async def release(self, held: Snapshot) -> None:
        """Close the snapshot, even if the caller is cancelled. As long as a snapshot is open, the log grows."""
        try:
            await asyncio.shield(self._workers.run(held.close))
        finally:
            self._held.discard(held)
            if not self._held:
                self._none_held.set()

    async def end(self, patience: float) -> None:
        """Wait up to `patience` seconds until all snapshots are released. Then close those that are left."""
        if self._held and patience:
            await asyncio.wait([asyncio.ensure_future(self._none_held.wait())], timeout=patience)
        for held in list(self._held):
            await self._workers.run(held.close)
