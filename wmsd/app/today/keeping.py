"""Keeps the figures of all companies: they are read again when something was written to a company's file, and when
something becomes late. Nobody who looks at them opens a file.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final

from wmsd.app.access_cache import AccessCache
from wmsd.app.today import figures as reading
from wmsd.app.today import store
from wmsd.app.today.figures import CompanyFigures
from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.problems import Problem
from wmsd.db.company_files import CompanyFiles
from wmsd.db.database import Database
from wmsd.db.failures import STORAGE_FAILURES

MOST_AT_ONCE: Final = 50
"""Open files that are read in one turn: a millisecond each."""
MOST_OPENED: Final = 10
"""Closed files that are opened for it in one turn."""
WRITTEN_EVERY: Final = 10.0
"""Seconds between two times that the figures are written down."""


class TodayFigures:
    def __init__(self, platform: Database, files: CompanyFiles, access: AccessCache, clock: Clock) -> None:
        self._platform = platform
        self._files = files
        self._access = access
        self._clock = clock
        self._changed = files.watch()
        """The companies that were written since their figures were read."""
        self._known: dict[int, CompanyFigures] | None = None
        self._unwritten: set[int] = set()
        self._written_at = clock.monotonic()
        self._keeping = asyncio.Lock()

    @property
    def today(self) -> str:
        """The date at the place of the machine."""
        return self._clock.now().astimezone().date().isoformat()

    def of(self, company_id: int) -> CompanyFigures | None:
        """None while they were not read yet."""
        return None if self._known is None else self._known.get(company_id)

    async def keep(self) -> None:
        """Reads what has changed. A job calls it each second."""
        async with self._keeping:
            known, today = await self._loaded(), self.today
            companies = await self._access.companies()
            for company_id in known.keys() - companies.keys():
                del known[company_id]
            late = {each for each in companies if each not in known or not known[each].holds(today)}
            wanted = (self._changed | late) & companies.keys()
            self._changed &= wanted
            is_open = {each for each in wanted if self._files.is_open(each)}
            for company_id in (*_some(is_open, MOST_AT_ONCE), *_some(wanted - is_open, MOST_OPENED)):
                await self._read(company_id, today, known)
            if self._unwritten and self._clock.monotonic() >= self._written_at + WRITTEN_EVERY:
                await self._write(known)

    async def write(self) -> None:
        """Writes down what is not written yet, before the end."""
        async with self._keeping:
            if self._known is not None and self._unwritten:
                await self._write(self._known)

    async def _read(self, company_id: int, today: str, known: dict[int, CompanyFigures]) -> None:
        """Of a file that cannot be read now, the figures stay as they are until it can."""
        self._changed.discard(company_id)
        try:
            async with self._files.visiting(company_id) as database:
                known[company_id] = await database.read(partial(reading.read, today=today))
            self._unwritten.add(company_id)
        except (Problem, *STORAGE_FAILURES):
            self._changed.add(company_id)

    async def _write(self, known: dict[int, CompanyFigures]) -> None:
        some, self._unwritten = self._unwritten, set()
        self._written_at = self._clock.monotonic()
        written = {each: known[each] for each in some if each in known}
        try:
            await self._platform.write(lambda tx: store.keep(tx, written), is_quiet=True)
        except BaseException:
            self._unwritten |= some
            raise

    async def _loaded(self) -> dict[int, CompanyFigures]:
        """The figures of before a restart, but for those of files that were written since."""
        if self._known is None:
            kept = await self._platform.read(store.kept)
            moments = {each: timestamps.from_text(read_at) for each, (_, read_at) in kept.items()}
            self._changed |= await asyncio.to_thread(self._written_since, moments)
            self._known = {each: found for each, (found, _) in kept.items()}
        return self._known

    def _written_since(self, moments: dict[int, datetime]) -> set[int]:
        return {each for each, moment in moments.items() if self._last_written(each) > moment.timestamp() - 1}

    def _last_written(self, company_id: int) -> float:
        path = self._files.path(company_id)
        found = 0.0
        for name in (path, path.with_name(f"{path.name}-wal")):
            with suppress(OSError):
                found = max(found, name.stat().st_mtime)
        return found


def _some(companies: Iterable[int], most: int) -> list[int]:
    return sorted(companies)[:most]
