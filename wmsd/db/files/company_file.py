"""The file of one company. wmsd checks the file before its first use. If the check fails, wmsd does not change the
file.

Slow work, such as waiting for a file that another program has locked, runs on a thread. Only requests for this
company wait for this work.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from wmsd.base.clock import Clock
from wmsd.base.problems import unavailable
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import CANNOT_BE_READ, FileMoved, FileOverwritten, StorageError, is_damage
from wmsd.db.engine.file_connections import prepare_writer
from wmsd.db.engine.file_owner import Owner
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.replaced_files import Identity, Standing, copy_at, identity
from wmsd.db.engine.sqlite import BUSY_SECONDS, log_bytes, sqlite3
from wmsd.db.files.open_files import OpenFiles
from wmsd.db.migrations import COMPANY, Before, CheckedFile, open_checked

LOG = logging.getLogger("wmsd.companies")
Result = TypeVar("Result")
GoOn = Callable[[str, Path, HighWaterMark, HighWaterMark], None]
"""A function that is called if a file is older than its stored high-water mark, so that new numbers continue after
the stored mark. The parameters are the company's code, the path, the mark in the file, and the stored mark.
"""
Borrow = Callable[[Path], None]
"""A function that asks the running server to share the file. It raises StorageError if that fails."""
VISIT_SECONDS: Final = 0.005
REQUEST_WAITS: Final = 1.0
"""How many seconds a request waits for a file that another program has locked. The next request tries again.
Commands wait longer, because the server continues to write to a file that it shares with them.
"""
MOVED: Final = (
    "wmsd does not write to the file that is there now. Put the original file back, or restart wmsd "
    "to use the file that is there."
)
OVERWRITTEN: Final = (
    "wmsd no longer reads or writes this file. Restore the company from a backup, or restart wmsd "
    "to use the file that is there."
)


class CompanyFile:
    """The file of one company. It may be open or closed.

    `failure` is the reason why the file cannot be used, or None. `damage` is the damage that was found while the
    file was in use, or None. The check before use reads only a small part of the file. Therefore a damaged file
    may pass it and be used again.
    """

    def __init__(
        self,
        company_id: int,
        path: Path,
        owner: Owner,
        new_database: Callable[[], Database],
        executor: Executor,
        clock: Clock,
        repeated_failures: RepeatedFailures,
        borrow: Borrow | None,
        written_elsewhere: Callable[[int], None],
        alone: bool,
        mark: Callable[[], HighWaterMark | None],
        go_on: GoOn | None,
        before_migration: Before,
        open_files: OpenFiles,
    ) -> None:
        """Create the object without opening the file.

        If `alone`, no other process may open the file, except while this process shares it (see `lend`). `mark`
        returns the stored high-water mark, and `go_on` is called if the file is older than this mark.
        `written_elsewhere` is called when other processes may write the file, or may have written it.
        """
        self._company_id = company_id
        self.path = path
        self._owner = owner
        self.failure: str | None = None
        self.damage: str | None = None
        self.database: Database | None = None
        self._new_database = new_database
        self._executor = executor
        self._clock = clock
        self._repeated_failures = repeated_failures
        self._borrow = borrow
        self._written_elsewhere = written_elsewhere
        self._alone = alone
        self._mark = mark
        self._go_on = go_on
        self._before_migration = before_migration
        self._open_files = open_files
        self._lent = 0
        self._is_shared = False
        self._has_ended = False
        """True if the file must no longer be used, because its company is being deleted."""
        self._changing = asyncio.Lock()
        """Locked while the file is checked, lent or replaced, so that these happen one after the other."""
        self.visiting = threading.Lock()
        """A lock that a thread holds while it reads the file with a separate connection. The lock is also held
        while the mode of sharing changes.
        """
        self._unavailable = f"company {company_id} is unavailable"
        self._is_ready = False
        self._looking: asyncio.Future[None] | None = None
        self._leaving: asyncio.Future[Any] | None = None
        self._overwritten: Identity | None = None
        """The identity of a file that another program has overwritten while wmsd had it open. wmsd uses such a
        file again only after a restart.
        """
        self._missed: Identity | None = None
        """The identity of a file that was removed or replaced while wmsd had it open. At this path, wmsd accepts
        only this file and no other.
        """

    async def use(self) -> Database:
        """Return the company's database. Raise Problem (503) if the file cannot be used."""
        database = self.database
        if database is not None and not database.is_open and database.standing.was_changed:
            self.database, self._leaving = None, asyncio.ensure_future(database.retire())
            self._is_ready = False
            self._written_elsewhere(self._company_id)
        if not await self.can_be_used(stays_open=True):
            raise unavailable(CANNOT_BE_READ, 60)
        self._repeated_failures.over(self._unavailable)
        if self.database is None:
            self.database = self._new_database()
            await self.database.share(self._is_shared)
        return self.database

    async def lend(self) -> None:
        """Share the file with other processes, until `take_back` has been called the same number of times.

        If the file is being replaced, first wait until the new file is in its place.
        """
        if self._has_ended:
            raise StorageError(f"{self.path} belongs to a company that is being deleted.")
        self._lent += 1
        self._written_elsewhere(self._company_id)
        await self._share_as_lent()

    @property
    def is_lent(self) -> bool:
        return self._lent > 0

    @property
    def is_alone(self) -> bool:
        """True if this process opens the file so that no other process can open it.

        All connections of this process must use the same mode, because they share the index of the write-ahead
        log. The first connection decides whether this index is in a file or in memory.
        """
        return self._alone and not self._is_shared

    async def take_back(self) -> None:
        self._lent -= 1
        self._written_elsewhere(self._company_id)
        await self._share_as_lent()

    async def _share_as_lent(self) -> None:
        """Reopen the file in the right mode: shared with other processes if it is lent to any, otherwise not
        shared.

        SQLite changes the lock of the file only when this process has no connection to it. Therefore no thread may
        open a separate connection meanwhile.
        """
        async with self._changing:
            await self._has_left()
            while not self.visiting.acquire(blocking=False):  # noqa: ASYNC110  (a thread has it for milliseconds)
                await asyncio.sleep(VISIT_SECONDS)
            try:
                self._is_shared = self.is_lent
                if self.database is not None:
                    await self.database.share(self._is_shared)
            finally:
                self.visiting.release()

    async def end(self) -> None:
        """Close the file permanently. Raise StorageError if a command is using the file."""
        self._has_ended = True
        try:
            await self.replace(lambda: None)
        except BaseException:
            self._has_ended = False
            raise

    def begin_again(self) -> None:
        """Undo `end`, so that the file can be used again."""
        self._has_ended = False

    async def can_be_used(self, stays_open: bool = False) -> bool:
        """Return True if the file can be used. If it was not checked yet, or has failed, check it. All waiting
        callers share one check.

        Pass `stays_open=True` if the caller will use the file immediately.
        """
        if self._has_ended:
            return False
        if not self._is_ready:
            if self._looking is None:
                self._looking = asyncio.ensure_future(self._look_again(stays_open))
            await asyncio.shield(self._looking)
        return self._is_ready

    async def _look_again(self, stays_open: bool) -> None:
        """Check the file. If `stays_open`, the connection of the check becomes the writer of the database."""
        had_failed = self.failure is not None
        try:
            async with self._changing:
                await self._has_left()
                await (self._look_to_use() if stays_open else self._look_for(None))
            if had_failed and self._is_ready:
                self._written_elsewhere(self._company_id)
        finally:
            self._looking = None

    async def _look_to_use(self) -> None:
        database = self._new_database()
        with self._open_files.reserve_connection(database) as has_space:
            await self._look_for(database if has_space else None)

    async def _look_for(self, database: Database | None) -> None:
        alone = self.is_alone
        if database is not None:
            await database.share(self._is_shared)
            alone = database.begin()
        look = partial(self._look, database, alone)
        is_usable, connection = await asyncio.get_running_loop().run_in_executor(self._executor, look)
        if database is not None and connection is not None:
            self.database = database
            database.take_writer(connection)
        self._is_ready = is_usable  # last: a caller that sees True opens the file if there is no database yet

    def _look(self, database: Database | None, alone: bool) -> tuple[bool, sqlite3.Connection | None]:
        """Check the file, and migrate it to this program's schema. Store the error if that fails. Any thread may
        call this. If `alone` is True, no other process can open the file during the check.

        Return whether the file can be used, and its open connection or None. The connection is returned only if
        all of these are true:

        - `database` is not None.
        - The file had no write-ahead log.
        - The file did not change during the check.
        - The file is not older than its stored high-water mark.
        """
        found = identity(self.path)
        if self._missed not in (None, found) or (self._overwritten is not None and found == self._overwritten):
            return False, None
        has_log = log_bytes(self.path) > 0  # closing the file writes the log back
        try:
            if self._borrow is not None:
                self._borrow(self.path)
            mark = self._mark()
            waits = REQUEST_WAITS if self._borrow is None else BUSY_SECONDS
            checked = open_checked(self.path, COMPANY, waits, alone, self._owner, mark, self._before_migration)
            stays_open = database is not None and not has_log and _is_as_it_was(checked, database.standing)
            if stays_open:
                prepare_writer(checked.connection)
            else:
                checked.connection.close()
            if checked.older is not None and mark is not None and self._go_on is not None:
                self._go_on(self._owner.code, self.path, checked.older, mark)
        except StorageError as error:
            self._fail(error)
            return False, None
        self.failure, self._missed, self._overwritten = None, None, None
        return True, checked.connection if stays_open else None

    def suspect(self, error: Exception) -> None:
        """Close a file that failed during use. The file is checked before its next use."""
        if is_damage(error):
            self.damage = str(error)
        self._fail(error)
        self._leave(is_kept=False)

    def stop(self, moved: FileMoved) -> None:
        """Close a file that was removed, replaced or overwritten while it was in use.

        Save the content of a removed file to a copy, if possible. The content of an overwritten file is not saved.
        Do not change the file that is now at the path.
        """
        if self.database is None:
            return
        if isinstance(moved, FileOverwritten):
            self._overwritten = self.database.standing.file
            self._fail(StorageError(f"{moved}. {OVERWRITTEN}"))
        elif moved.path == self.path:
            self._missed = self.database.standing.file
            self._fail(StorageError(f"{moved}. {MOVED}"))
        else:
            self._fail(StorageError(f"{moved}. wmsd writes the content of that file to {self.path.name}"))
        self._leave(is_kept=not isinstance(moved, FileOverwritten))

    async def replace(self, put: Callable[[], Result]) -> Result:
        """Put another file in the place of this one: close the file, call `put` on a thread, and return its
        result.

        Requests for the company wait meanwhile. Raise StorageError if a command is using the file. Raise the
        errors of `put`.
        """
        return await asyncio.shield(asyncio.ensure_future(self._replace(put)))

    async def _replace(self, put: Callable[[], Result]) -> Result:
        async with self._changing:
            if self.is_lent:
                raise StorageError(f"A command is using {self.path}. Wait until it has finished, and try again.")
            await self._has_left()
            database, self.database = self.database, None
            self._is_ready, self._missed, self._overwritten = False, None, None
            if database is not None:
                await database.retire()
            try:
                done = await asyncio.get_running_loop().run_in_executor(self._executor, put)
                self.damage = None
                return done
            finally:
                self._written_elsewhere(self._company_id)

    def _leave(self, is_kept: bool) -> None:
        database, self.database = self.database, None
        if database is not None:
            self._leaving = asyncio.ensure_future(self._close(database, is_kept))

    async def _close(self, database: Database, is_kept: bool) -> None:
        try:
            if is_kept:
                await self._keep(database)
        except (sqlite3.Error, OSError) as error:
            LOG.error("company %d: the content of its file could not be saved: %s", self._company_id, error)
        finally:
            await database.retire()

    async def _keep(self, database: Database) -> None:
        copy = copy_at(self.path, self._clock.now())
        if await database.keep(copy):
            self._missed = identity(copy)  # the copy may be put in place of the lost file, and is then used
            LOG.error("company %d: the content of its file was saved to %s", self._company_id, copy)

    def _fail(self, error: Exception) -> None:
        self._repeated_failures.failed(self._unavailable, error)
        self.failure, self._is_ready = str(error), False

    async def _has_left(self) -> None:
        """If the file is being closed, wait until it is closed, so that it can be opened again."""
        while (leaving := self._leaving) is not None:
            await asyncio.wait([leaving])
            if self._leaving is leaving:
                self._leaving = None

    async def close(self) -> None:
        if self._looking is not None:
            await asyncio.wait([self._looking])
        async with self._changing:
            await self._has_left()
            if self.database is not None:
                await self.database.close()


def _is_as_it_was(checked: CheckedFile, standing: Standing) -> bool:
    """Return True if opening the file did not change it, and it is not older than its stored high-water mark."""
    try:
        standing.check_file()
    except FileMoved:
        return False
    return checked.is_as_it_was and checked.older is None
