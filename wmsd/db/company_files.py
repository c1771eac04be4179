"""The tenants' files: `companies/<id>.db`. One that fails makes its own company unavailable, no other."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

from wmsd.base import timestamps
from wmsd.base.clock import OrderedClock
from wmsd.base.complaints import FLAPPING_SECONDS, Complaints
from wmsd.base.ids import Ids
from wmsd.base.problems import unavailable
from wmsd.db.database import Database, MakeRoom
from wmsd.db.failures import StorageError, is_damage
from wmsd.db.migrations import COMPANY, create, migrate
from wmsd.db.sqlite import sqlite3
from wmsd.db.transaction import Provision, Transaction
from wmsd.db.unit_of_work import read_once

LOG = logging.getLogger("wmsd.companies")
Result = TypeVar("Result")
MOST_OPEN = 64
"""Each open file holds up to four threads; the least recently used beyond this number are closed."""


class CompanyFiles:
    def __init__(
        self, folder: Path, clock: OrderedClock, ids: Ids, provision: Provision, make_room: MakeRoom | None = None
    ) -> None:
        self.folder = folder
        self.failed: dict[int, str] = {}
        self.after_commit: Callable[[int], None] | None = None
        self._told = Complaints(
            LOG, (sqlite3.Error, StorageError), monotonic=clock.monotonic, settled_seconds=FLAPPING_SECONDS
        )
        self._clock = clock
        self._ids = ids
        self._provision = provision
        self._make_room = make_room
        self._databases: dict[int, Database] = {}
        self._ready: set[int] = set()
        self._discarded: list[Database] = []
        """Open on files that failed, and that may be replaced by now: closed before anything is opened again."""

    def path(self, company_id: int) -> Path:
        return self.folder / f"{company_id}.db"

    def create(self, company_id: int) -> None:
        """The file of a new company. What stands in its place, after a restore say, is moved aside."""
        path = self.path(company_id)
        if path.exists():
            moment = timestamps.to_text(self._clock.now()).replace(":", "")
            for suffix in ("", "-wal", "-shm"):
                stray = path.with_name(path.name + suffix)
                if stray.exists():
                    stray.rename(stray.with_name(f"{company_id}.db.orphan-{moment}{suffix}"))
            LOG.warning("a file without a company was moved aside: %s.orphan-%s", path, moment)
        create(path, COMPANY)

    def prepare_all(self, company_ids: Iterable[int]) -> None:
        """Migrates every file; those that fail are noted, told in the log, and left as they are."""
        for company_id in company_ids:
            self._prepare(company_id)

    async def get(self, company_id: int) -> Database:
        """The company's database. Raises Problem (503) when its file cannot be used."""
        while self._discarded:
            await self._discarded.pop().close()
        database = self._databases.get(company_id)
        if database is None or company_id not in self._ready:
            if not self._can_be_used(company_id):
                raise unavailable("This company's data cannot be read now.", 60)
            database = self._databases.setdefault(company_id, self._database(company_id))
        self._told.over(_is_unavailable(company_id))
        if not database.is_open:
            await self.close_beyond_limit()
        return database

    async def read_each(
        self, company_ids: Iterable[int], action: Callable[[Transaction], Result]
    ) -> dict[int, Result]:
        """What the action reads in each file that can be used, by company.

        All on one thread, over connections that are closed again: who looks at every company holds up nobody, and
        drives no file out that is in use.
        """
        usable: list[int] = []
        for company_id in company_ids:
            if company_id not in self._ready:
                await asyncio.sleep(0)  # to look at one takes a moment, and there may be many
            if self._can_be_used(company_id):
                usable.append(company_id)
        found, errors = await asyncio.to_thread(self._read_each, usable, action)
        for company_id, error in errors.items():
            if is_damage(error):
                self.suspect(company_id, error)
            else:
                self._told.failed(f"company {company_id} could not be read", error)
        for company_id in found:
            self._told.over(f"company {company_id} could not be read")
        return found

    def _read_each(
        self, company_ids: list[int], action: Callable[[Transaction], Result]
    ) -> tuple[dict[int, Result], dict[int, sqlite3.Error]]:
        found: dict[int, Result] = {}
        errors: dict[int, sqlite3.Error] = {}
        for company_id in company_ids:
            try:
                path = self.path(company_id)
                found[company_id] = read_once(path, action, self._clock, self._ids, self._provision)
            except sqlite3.Error as error:
                errors[company_id] = error
        return found, errors

    def signature(self, company_id: int) -> tuple[int, ...]:
        """Differs after something was written to the company's file, be it by another process."""
        path = self.path(company_id)
        found: list[int] = []
        for name in (path, path.with_name(f"{path.name}-wal")):
            try:
                status = name.stat()
            except OSError:
                found += (0, 0)
            else:
                found += (status.st_mtime_ns, status.st_size)
        return tuple(found)

    def suspect(self, company_id: int, error: Exception) -> None:
        """Notes that the file failed in use; the next request looks at it again before it uses it."""
        self._told.failed(_is_unavailable(company_id), error)
        self.failed[company_id] = str(error)
        self._ready.discard(company_id)
        database = self._databases.pop(company_id, None)
        if database is not None:
            self._discarded.append(database)

    def _database(self, company_id: int) -> Database:
        told = self.after_commit
        after_commit = None if told is None else partial(told, company_id)
        path = self.path(company_id)
        return Database(path, self._clock, self._ids, after_commit, self._provision, self._make_room)

    def _can_be_used(self, company_id: int) -> bool:
        """A file that failed is looked at again."""
        if company_id not in self._ready:
            self._prepare(company_id)
        return company_id not in self.failed

    def _prepare(self, company_id: int) -> None:
        try:
            migrate(self.path(company_id), COMPANY)
        except StorageError as error:
            self._told.failed(_is_unavailable(company_id), error)
            self.failed[company_id] = str(error)
        else:
            self.failed.pop(company_id, None)
            self._ready.add(company_id)

    async def close_beyond_limit(self) -> None:
        """Closes the least recently used. One opens again at its next use, so that nobody is disturbed."""
        opened = [database for database in self._databases.values() if database.is_open]
        idle = sorted((d for d in opened if d.is_idle), key=lambda database: database.last_used)
        for database in idle[: max(0, len(opened) - MOST_OPEN + 1)]:
            await database.close()

    async def close(self) -> None:
        for database in (*self._databases.values(), *self._discarded):
            await database.close()


def _is_unavailable(company_id: int) -> str:
    return f"company {company_id} is unavailable"
