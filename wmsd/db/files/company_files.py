"""The companies' files: `companies/<id>.db`. A file that fails makes only its own company unavailable."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from wmsd.base import timestamps
from wmsd.base.clock import OrderedClock
from wmsd.base.ids import Ids
from wmsd.base.machine.memory import give_memory_back
from wmsd.base.repeated_failures import FLAPPING_SECONDS, RepeatedFailures
from wmsd.db.engine.database import Database, MakeRoom
from wmsd.db.engine.failures import FileMoved, StorageError, is_damage
from wmsd.db.engine.file_owner import Owner, WrongOwner, give_away
from wmsd.db.engine.high_water_mark import HighWaterMark
from wmsd.db.engine.last_writes import Moments, Writes
from wmsd.db.engine.replaced_files import state_of
from wmsd.db.engine.sqlite import sole_transaction, sqlite3
from wmsd.db.engine.transaction import Provision, Transaction
from wmsd.db.engine.unit_of_work import read_once
from wmsd.db.engine.worker_threads import Workers
from wmsd.db.files.company_file import Borrow, CompanyFile, GoOn
from wmsd.db.files.open_files import OpenFiles
from wmsd.db.migrations import COMPANY, Before, create_file, is_current, only_by_a_server, put_in_place

LOG = logging.getLogger("wmsd.companies")
Result = TypeVar("Result")
NOTICED_AT_ONCE: Final = 250
LOOKERS: Final = 8
"""How many files are checked at the same time. A check may have to wait for a program that has locked the file.
"""


class CompanyFiles:
    def __init__(
        self,
        folder: Path,
        clock: OrderedClock,
        ids: Ids,
        provision: Provision,
        make_room: MakeRoom | None = None,
        *,
        installation: str = "",
        codes: Mapping[int, str] = MappingProxyType({}),
        marks: Mapping[int, HighWaterMark] = MappingProxyType({}),
        go_on: GoOn | None = None,
        alone: bool = False,
        borrow: Borrow | None = None,
        before_migration: Before = only_by_a_server,
    ) -> None:
        """Create the object without opening any file.

        - `installation` is the installation's id, which is stored in the files.
        - `codes` are the codes of the existing companies by id.
        - `marks` are the stored high-water marks of the files. `go_on` is called for a file that is older than its
          mark.
        - `alone`: no other process may open the files, except while this process shares them.
        - `before_migration` is called before a file of an older schema is migrated.
        """
        self.installation = installation
        self._codes = dict(codes)
        self.marks = dict(marks)
        self._go_on = go_on
        self._watching: list[set[int]] = []
        self.folder = folder
        self.after_commit: Callable[[int], None] | None = None
        self._repeated_failures = RepeatedFailures(
            LOG, (sqlite3.Error, StorageError), monotonic=clock.monotonic, settled_seconds=FLAPPING_SECONDS
        )
        self._clock = clock
        self._ids = ids
        self.provision = provision
        self._make_room = make_room
        self._alone = alone
        self._borrow = borrow
        self._before_migration = before_migration
        self.open = OpenFiles()
        self.last_writes = Moments()
        """The last writes of all companies."""
        self._written_elsewhere: set[int] = set()
        """The companies whose files may have been written by other processes."""
        self._noticed_to = 0
        self.unprepared = 0
        """The number of files that `prepare` still has to check."""
        self._files: dict[int, CompanyFile] = {}
        self._known: Collection[int] | None = None
        self._executor = ThreadPoolExecutor(LOOKERS, "wmsd-files")
        self._workers = Workers()

    def path(self, company_id: int) -> Path:
        return self.folder / f"{company_id}.db"

    def owner(self, company_id: int) -> Owner:
        return Owner(self.installation, company_id, self.code_of(company_id))

    def code_of(self, company_id: int) -> str:
        return self._codes.get(company_id, f"company {company_id}")

    def create(self, company_id: int, code: str) -> None:
        """Create the file of a new company.

        If there is a file at its path, for example after a restore, move this file aside.
        """
        path = self._place_of_new(company_id, code)
        create_file(path, COMPANY, self.owner(company_id))

    def adopt(self, company_id: int, code: str, prepared: Path) -> None:
        """Use the file at `prepared` as the file of a new company. An existing file at the company's path is moved
        aside.

        There must be no write-ahead log next to `prepared`.
        """
        path = self._place_of_new(company_id, code)
        with sole_transaction(prepared) as connection:
            give_away(connection, self.owner(company_id))
        put_in_place(prepared, path)

    def _place_of_new(self, company_id: int, code: str) -> Path:
        self._codes[company_id] = code
        path = self.path(company_id)
        if path.exists():
            moment = timestamps.for_file_name(self._clock.now())
            for suffix in ("", "-wal", "-shm"):
                stray = path.with_name(path.name + suffix)
                if stray.exists():
                    stray.rename(stray.with_name(f"{company_id}.db.orphan-{moment}{suffix}"))
            LOG.warning("found a file that belongs to no company, and renamed it to %s.orphan-%s", path, moment)
        return path

    async def prepare(self, company_ids: Iterable[int]) -> None:
        """Migrate the files that need it, one after the other. Store and log failures.

        A request migrates the file of its own company immediately, and does not wait for the other migrations.
        Files that need no migration are checked when they are first used.
        """
        left = list(company_ids)
        self.unprepared = len(left)
        what = "files are not migrated now, but at their first use"
        with self._repeated_failures.trying(what, Exception):
            left = await asyncio.to_thread(self._not_current, left)
        self.unprepared = len(left)
        for company_id in left:
            with self._repeated_failures.trying(what, Exception):
                await self.file(company_id).can_be_used()
            self.unprepared -= 1

    def start_threads(self) -> None:
        """Start a thread for writes and one for reads, and keep both. Raise RuntimeError if that fails."""
        self._workers.start()

    async def get(self, company_id: int) -> Database:
        """Return the company's database. Raise Problem (503) if its file cannot be used."""
        while True:
            database = await self.file(company_id).use()
            try:
                await self.open.use(database)
            except FileMoved:
                if not database.is_retired:
                    raise
            else:
                return database

    def is_open(self, company_id: int) -> bool:
        """Return True if the company's file is open."""
        file = self._files.get(company_id)
        return file is not None and file.database is not None and file.database.is_open

    def open_database(self, company_id: int) -> Database | None:
        """Return the company's database, or None if its file is not open."""
        file = self._files.get(company_id)
        return file.database if file is not None and self.is_open(company_id) else None

    async def visit(self, company_id: int, work: Callable[[Database], Awaitable[None]]) -> None:
        """Run `work` with the company's database. Raise the errors of `get` and of `work`."""
        async with self.visiting(company_id) as database:
            await work(database)

    @asynccontextmanager
    async def visiting(self, company_id: int) -> AsyncIterator[Database]:
        """Yield the company's database. Raise the same errors as `get`.

        If the file was closed before, it is closed again at the end. Therefore a loop over all companies keeps at
        most one additional file open.
        """
        was_open = self.is_open(company_id)
        database = await self.get(company_id)
        try:
            yield database
        finally:
            if not was_open:
                await self.open.close_if_idle(database)

    @property
    def databases(self) -> list[Database]:
        """The databases that have been used."""
        return [file.database for file in self._files.values() if file.database is not None]

    def writing(self) -> list[str]:
        """Return the codes of the companies for which a long write is running. Any thread may call this."""
        return sorted(
            self.code_of(company_id)
            for company_id, file in list(self._files.items())
            if file.database is not None and file.database.is_writing
        )

    @property
    def read_only(self) -> set[int]:
        """The ids of the companies whose last write failed because of the file or the disk."""
        if self.last_writes.failed_at is None:  # no write of any company has failed since the start
            return set()
        return {
            company_id
            for company_id, file in self._files.items()
            if file.database is not None and file.database.writes.failure is not None
        }

    @property
    def failed(self) -> dict[int, str]:
        """The reasons why files cannot be used, by company id.

        Files of deleted companies are not included, because no one can repair them.
        """
        return self._by_company(lambda file: file.failure)

    @property
    def troubled(self) -> dict[int, str]:
        """The reasons why files cannot be used, and the damage that was found in usable files, by company id."""
        return self._by_company(lambda file: file.failure or file.damage)

    def _by_company(self, why: Callable[[CompanyFile], str | None]) -> dict[int, str]:
        return {
            company_id: sentence
            for company_id, file in self._files.items()
            if (sentence := why(file)) is not None and (self._known is None or company_id in self._known)
        }

    def note_companies(self, company_ids: Collection[int]) -> None:
        """Record which companies exist now."""
        self._known = company_ids

    async def read_each(
        self, company_ids: Iterable[int], action: Callable[[Transaction], Result]
    ) -> dict[int, Result]:
        """Run the action on the file of each company, and return the results by company id. Leave out files that
        cannot be used.

        All actions run on one thread. Each action has its own connection, which is closed afterwards. So requests
        do not wait, and files that requests use stay open.
        """
        known = list(company_ids)
        doubtful = await asyncio.to_thread(self._not_current, known)
        can_be_used = await asyncio.gather(*(self.file(company_id).can_be_used() for company_id in doubtful))
        failed = {company_id for company_id, can_be in zip(doubtful, can_be_used, strict=True) if not can_be}
        usable = [company_id for company_id in known if company_id not in failed]
        found, errors = await asyncio.to_thread(self._read_each, usable, action)
        for company_id, error in errors.items():
            if is_damage(error) or isinstance(error, WrongOwner):
                self.suspect(company_id, error)
            else:
                self._repeated_failures.failed(f"company {company_id} could not be read", error)
        for company_id in found:
            self._repeated_failures.over(f"company {company_id} could not be read")
        return found

    def _not_current(self, company_ids: list[int]) -> list[int]:
        """Return the companies whose files have failed or may need a migration."""
        failed = self.failed
        return [each for each in company_ids if each in failed or not is_current(self.path(each), COMPANY)]

    def _read_each(
        self, company_ids: list[int], action: Callable[[Transaction], Result]
    ) -> tuple[dict[int, Result], dict[int, Exception]]:
        found: dict[int, Result] = {}
        errors: dict[int, Exception] = {}
        for company_id in company_ids:
            try:
                path, file = self.path(company_id), self.file(company_id)
                with file.visiting:
                    found[company_id] = read_once(
                        path,
                        action,
                        self._clock,
                        self._ids,
                        self.provision,
                        file.is_alone,
                        self.owner(company_id),
                    )
            except (sqlite3.Error, WrongOwner) as error:
                errors[company_id] = error
        return found, errors

    def written_elsewhere(self, company_ids: Collection[int]) -> Collection[int]:
        """Return the companies whose files other processes may have written since the last call."""
        if not self._alone:
            return company_ids
        asked = self._written_elsewhere
        self._written_elsewhere = {each for each in asked if self.file(each).is_lent}
        return asked

    def signature(self, company_id: int) -> tuple[int, ...]:
        """Return a value that changes when any process writes to the company's file."""
        return state_of(str(self.path(company_id)))

    def suspect(self, company_id: int, error: Exception) -> None:
        """Record that the file failed with `error` during use. The next request checks the file first."""
        self.file(company_id).suspect(error)

    def notice_moved(self) -> None:
        """Stop the use of open files that were removed or replaced. Each call checks a limited number of files."""
        known = list(self.open)
        begin = self._noticed_to if self._noticed_to < len(known) else 0
        self._noticed_to = begin + NOTICED_AT_ONCE
        for database in known[begin : self._noticed_to]:
            database.is_standing()

    def file(self, company_id: int) -> CompanyFile:
        file = self._files.get(company_id)
        if file is None:
            new_database = partial(self._database, company_id)
            file = CompanyFile(
                company_id,
                self.path(company_id),
                self.owner(company_id),
                new_database,
                self._executor,
                self._clock,
                self._repeated_failures,
                self._borrow,
                self._note_written_elsewhere,
                self._alone,
                lambda: self.marks.get(company_id),
                self._go_on,
                self._before_migration,
                self.open,
            )
            self._files[company_id] = file
        return file

    def watch(self) -> set[int]:
        """Return a new set. When a company's file is written, the id of the company is added to the set.

        The caller removes the ids from the set.
        """
        watching: set[int] = set()
        self._watching.append(watching)
        return watching

    def _note_written(self, company_id: int) -> None:
        for watching in self._watching:
            watching.add(company_id)

    def _note_written_elsewhere(self, company_id: int) -> None:
        self._written_elsewhere.add(company_id)
        self._note_written(company_id)

    def _committed(self, company_id: int) -> None:
        self._note_written(company_id)
        if self.after_commit is not None:
            self.after_commit(company_id)

    def _database(self, company_id: int) -> Database:
        database = Database(
            self.path(company_id),
            self._clock,
            self._ids,
            partial(self._committed, company_id),
            self.provision,
            self._make_room,
            moved=lambda moved: self.file(company_id).stop(moved),
            alone=self._alone,
            workers=self._workers,
            counted=self.open.counted,
        )
        database.writes = Writes(self.last_writes)
        return database

    async def close_unused(self) -> None:
        """Close the files that were not used for a while, and release their memory to the system."""
        if await self.open.close_unused(self._clock.monotonic()):
            await self._workers.readers.run(give_memory_back)

    async def close(self) -> None:
        await self.open.close()
        for file in self._files.values():
            await file.close()
        self._executor.shutdown(wait=False)
        self._workers.close()
