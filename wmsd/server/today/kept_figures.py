"""The cache of all companies' figures for the page Today. Code that uses the cache need not open any company's
file.

The figures of a company are read again when its file has changed, and when a document becomes due or late.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.problems import Problem
from wmsd.base.time_zones import day_in, time_zone_of
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.files.company_files import CompanyFiles
from wmsd.dispatch.access_cache import AccessCache
from wmsd.server.company_turns import CompanyTurns
from wmsd.server.today import figures, store
from wmsd.server.today.figures import CompanyFigures

MOST_AT_ONCE: Final = 50
"""How many open files are read in one run of the job, at most. Each file takes about a millisecond."""
MOST_OPENED: Final = 10
"""How many closed files are opened and read in one run of the job, at most."""
WRITTEN_EVERY: Final = 10.0
"""The minimum number of seconds between two writes of the figures to `platform.db`."""


class Days(dict[str | None, str]):
    """The current date in each time zone, by the name of the zone. The key None stands for the time zone of the
    installation.

    Each date is computed only once, because a thousand companies are checked every second.
    """

    def __init__(self, now: datetime, zone: ZoneInfo) -> None:
        self._now = now
        self._zone = zone

    def __missing__(self, name: str | None) -> str:
        self[name] = found = day_in(self._now, time_zone_of(self._zone, name))
        return found


class TodayFigures:
    def __init__(
        self, platform: Database, files: CompanyFiles, access: AccessCache, clock: Clock, zone: ZoneInfo
    ) -> None:
        """Create the cache. `zone` is the time zone of the installation, for companies without a time zone."""
        self._platform = platform
        self._files = files
        self._access = access
        self._clock = clock
        self._zone = zone
        self._changed = files.watch()
        """The ids of the companies that have changed since their figures were read."""
        self._known: dict[int, CompanyFigures] | None = None
        self._unwritten: dict[int, str] = {}
        """The time when the figures of a company were read, by company id. The dict has the companies whose latest
        figures are not stored yet.
        """
        self._turns = CompanyTurns()
        self.version = 0
        """A number that changes whenever the figures of a company change."""
        self._written_at = clock.monotonic()
        self._keeping = asyncio.Lock()

    @property
    def today(self) -> str:
        """The date in the installation's time zone."""
        return day_in(self._clock.now(), self._zone)

    def days(self) -> "Days":
        """Return the current dates by time zone."""
        return Days(self._clock.now(), self._zone)

    @property
    def month(self) -> str:
        """The current month in UTC. The figures count the events of this month."""
        return timestamps.to_text(self._clock.now())[:7]

    @property
    def known(self) -> Mapping[int, CompanyFigures]:
        """The cached figures by company id, for all companies whose figures were read."""
        return self._known or {}

    async def keep(self) -> None:
        """Read outdated figures again, and store new figures from time to time. A job calls this method each
        second.
        """
        async with self._keeping:
            known, companies = await self._loaded(), await self._access.companies()
            days = self.days()
            for company_id in known.keys() - companies.keys():
                del known[company_id]
                self.version += 1
            late = {
                each
                for each, company in companies.items()
                if each not in known or not known[each].holds(days[company.time_zone])
            }
            wanted = (self._changed | late) & companies.keys()
            self._changed &= wanted
            is_open = {each for each in wanted if self._files.is_open(each)}
            first = self._turns.first
            for company_id in (*first(is_open, MOST_AT_ONCE), *first(wanted - is_open, MOST_OPENED)):
                await self._read(company_id, days[companies[company_id].time_zone], known)
            if self._unwritten and self._clock.monotonic() >= self._written_at + WRITTEN_EVERY:
                await self._write(known)

    async def write(self) -> None:
        """Store the figures that are not stored yet. This is called before the server stops."""
        async with self._keeping:
            if self._known is not None and self._unwritten:
                await self._write(self._known)

    async def _read(self, company_id: int, today: str, known: dict[int, CompanyFigures]) -> None:
        """Read the figures of a company, and put them into `known`. If the file cannot be read, keep the old
        figures. A later run of the job tries again.
        """
        self._changed.discard(company_id)
        self._turns.note(company_id)
        read_at = timestamps.to_text(self._clock.now())
        try:
            async with self._files.visiting(company_id) as database:
                known[company_id] = await database.read(partial(figures.read, today=today, month=self.month))
            self.version += 1
            self._unwritten[company_id] = read_at
        except BaseException as error:
            self._changed.add(company_id)
            if not isinstance(error, (Problem, *STORAGE_FAILURES)):
                raise

    async def _write(self, known: dict[int, CompanyFigures]) -> None:
        some, self._unwritten = self._unwritten, {}
        self._written_at = self._clock.monotonic()
        written = {each: (known[each], read_at) for each, read_at in some.items() if each in known}
        try:
            await self._platform.write(lambda tx: store.keep(tx, written), is_quiet=True)
        except BaseException:
            self._unwritten = {**some, **self._unwritten}
            raise

    async def _loaded(self) -> dict[int, CompanyFigures]:
        """Return the cached figures by company id.

        The first call loads the stored figures. It also marks each company whose file has changed after its
        figures were read.
        """
        if self._known is None:
            kept = await self._platform.read(store.stored_figures)
            moments = {each: timestamps.from_text(read_at) for each, (_, read_at) in kept.items()}
            self._changed |= await asyncio.to_thread(self._written_since, moments)
            self._known = {each: found for each, (found, _) in kept.items()}
            self.version += 1
        return self._known

    def _written_since(self, moments: dict[int, datetime]) -> set[int]:
        """Return the companies whose files have changed after the times in `moments`.

        A time in the future means that the clock was wrong. The company then counts as changed.
        """
        now = self._clock.now()
        return {
            each
            for each, moment in moments.items()
            if moment > now or self._last_written(each) > moment.timestamp() - 1
        }

    def _last_written(self, company_id: int) -> float:
        path = self._files.path(company_id)
        found = 0.0
        for name in (path, path.with_name(f"{path.name}-wal")):
            with suppress(OSError):
                found = max(found, name.stat().st_mtime)
        return found
