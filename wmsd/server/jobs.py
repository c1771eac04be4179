"""The jobs of a running server: work that no request asks for.

APScheduler only starts the jobs. Tables in the database files say which work is due.
"""

import asyncio
import logging
import math
import time
from contextlib import suppress
from functools import partial
from typing import Final

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from wmsd.base.clock import Clock
from wmsd.base.plurals import count_of
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.contract.context import Company
from wmsd.data_folder.clock_watch import ClockWatch
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES, FileMoved, is_damage
from wmsd.db.engine.sqlite import LOG_BYTES, log_bytes, sqlite3
from wmsd.db.sql.statistics import refresh_statistics
from wmsd.dispatch.idempotency import forget_old as forget_old_keys
from wmsd.events.outbox.store import forget_old as forget_old_events
from wmsd.events.webhooks.deliveries.results_store import count_failing, pass_over
from wmsd.events.webhooks.retention import forget_old as forget_old_deliveries
from wmsd.events.webhooks.rules import off_because
from wmsd.events.webhooks.sending.sender import Sender
from wmsd.events.webhooks.test_receivers.store import end_old as end_old_receivers
from wmsd.imports.upload_jobs import ImportDesk
from wmsd.installation.live_changes import LiveChanges
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.server.alerts.alerts import ALERT_SECONDS, Alerts
from wmsd.server.alerts.channels import channels_of
from wmsd.server.alerts.conditions import Looks
from wmsd.server.alerts.disk_watch import LOOK_SECONDS, DiskWatch
from wmsd.server.job_log import WORDS, Job, JobLog
from wmsd.server.missing_credentials import LostCredentials
from wmsd.server.monotonic_scheduler import Every, MonotonicTime
from wmsd.server.search_updates import SearchUpdates
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.server.today.quota_watch import QuotaWatch
from wmsd.tenants.accounts import ending_tokens, token_store

LOG = logging.getLogger("wmsd.jobs")
NOTICE_CHANGES_SECONDS = 0.5
"""The seconds between two checks for changes that a command has made. The server must notice such a change within
a second.
"""

SENDER_TICK_SECONDS = 0.5
TRY_AGAIN_SECONDS = 5.0
A_DAY_SECONDS: Final = 86_400.0
LIBRARY_LOGS: Final = {
    "apscheduler.scheduler": logging.ERROR,  # its warnings repeat while a tick is late
    "apscheduler.executors.default": logging.CRITICAL,  # `_run` logs errors; a job cut off by a stop is no error
}


class Jobs:
    def __init__(
        self,
        installation: Installation,
        sender: Sender,
        today: TodayFigures,
        changes: LiveChanges,
        backups: ScheduledBackups | None = None,
        imports: ImportDesk | None = None,
        complete: Complete = NOTHING_ADDED,
    ) -> None:
        """Create the jobs. `complete` is a function that adds options to the commands in the texts of alerts."""
        self._installation = installation
        self.today = today
        self.changes = changes
        self.backups = backups
        self.imports = imports
        self.sender = sender
        self._clock: Clock = installation.clock
        self.clock_watch = ClockWatch(installation.platform, installation.clock)
        self.disk_watch = DiskWatch(installation.folder)
        self.room_watch = QuotaWatch(installation, today)
        self.lost_credentials = LostCredentials(installation)
        self.search = SearchUpdates(
            installation.folder.path,
            installation.files,
            installation.access,
            installation.damaged_indexes,
            installation.clock,
        )
        self.alerts = Alerts(
            installation.folder.path,
            installation.clock,
            installation.ids,
            Looks(installation, self.disk_watch, self.room_watch, self.clock_watch, today, backups),
            channels_of(installation.settings, installation.folder.path, installation.clock, complete=complete),
        )
        self._scheduler = AsyncIOScheduler(
            timezone=MonotonicTime(time.monotonic),
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        for name, level in LIBRARY_LOGS.items():
            logging.getLogger(name).setLevel(level)
        self._complaints = RepeatedFailures(LOG, STORAGE_FAILURES)
        self.last_tick = self._clock.monotonic()
        self._with_failed_logs: set[Database] = set()
        self._tidied_at: dict[int, float] = {}
        """The time of the last daily work on each company's file, by company id. The time is on the monotonic
        clock.
        """
        self.log = JobLog(self._clock)
        for seconds, name, job in self._declared():
            self.log.declare(name, *WORDS[name], every=seconds)
            self._scheduler.add_job(self._run, Every(seconds), [name, job], id=name)

    def _declared(self) -> list[tuple[float, str, Job]]:
        """Return every job: the seconds between two runs, its name, and its function."""
        access, files, marks = self._installation.access, self._installation.files, self._installation.marks
        jobs: list[tuple[float, str, Job]] = [
            (NOTICE_CHANGES_SECONDS, "_notice_changes", self._notice_changes),
            (SENDER_TICK_SECONDS, "tick", self.sender.tick),
            (1, "watch_the_clock", self.clock_watch.tick),
            (600, "keep", self.clock_watch.keep),
            (60, "write_token_uses", access.write_token_uses),
            (60, "write_session_uses", access.write_session_uses),
            (60, "write_failed_sign_ins", self._installation.failed_sign_ins.write_failed_sign_ins),
            (60, "write_request_counts", self._installation.requests.write),
            (60, "write", marks.write),
            (1, "keep_today", self.keep_today),
            (1, "index_changes", self.search.index_changes),
            (10, "close_unused", files.close_unused),
            (TRY_AGAIN_SECONDS, "try_failed_writes", self.try_failed_writes),
            (TRY_AGAIN_SECONDS, "write_logs_back", self.write_logs_back),
            (TRY_AGAIN_SECONDS, "look_at_credentials", self.lost_credentials.look),
            (60, "make_reserve", self.make_reserve),
            (LOOK_SECONDS, "watch_the_disk", self.watch_the_disk),
            (ALERT_SECONDS, "watch_for_alerts", self.alerts.look),
            (3600, "sweep_tokens", self.sweep_tokens),
            (3600, "tell_of_ending_tokens", self.tell_of_ending_tokens),
            (3600, "tidy_files", self.tidy_files),
            (3600, "forget_old_requests", self.forget_old_requests),
        ]
        if self.imports is not None:
            jobs.append((3600, "forget_old", self.imports.forget_old))
        return jobs if self.backups is None else [*jobs, (60, "look", self.backups.look)]

    async def start(self) -> None:
        """Start the jobs. The caller must have started the clock watch before the first change, because change
        sequences depend on the clock.
        """
        self._scheduler.start()
        await self.sender.start()

    async def stop(self) -> None:
        self._scheduler.shutdown(wait=False)
        if self.backups is not None:
            await self.backups.stop()
        if self.imports is not None:
            await self.imports.stop()
        await self.sender.stop()
        await self.alerts.stop()
        installation = self._installation
        for last in (
            installation.access.write_token_uses,
            installation.access.write_session_uses,
            installation.failed_sign_ins.write_last,
            installation.marks.write,
            self.today.write,
            self.clock_watch.keep,
        ):
            await self._run(last.__name__, last)

    async def _run(self, name: str, job: Job) -> None:
        what = f"the job {name} failed, and runs again as scheduled"
        with self._complaints.trying(what, Exception), self.log.run(name):
            await job()

    async def _notice_changes(self) -> None:
        self.last_tick = self._clock.monotonic()
        self._installation.files.notice_moved()
        access = self._installation.access
        if not await access.forget_if_changed():
            return
        await self.clock_watch.hear()
        if ended := await access.ended_of(self.changes.sessions):
            self.changes.end_sessions(ended)  # so that their open pages learn this now
        if self.imports is not None:
            known = await access.companies()
            self.imports.end_of({each.id for each in known.values() if each.suspended_at is not None})

    async def try_failed_writes(self) -> None:
        """Write to each file whose writes have failed, to learn whether its disk works again. So wmsd learns this
        even if no request writes.
        """
        for database in (self._installation.platform, *self._installation.files.databases):
            if database.writes.failure is not None:
                with suppress(*STORAGE_FAILURES):
                    if database is not self._installation.platform:
                        await self._installation.files.open.use(database)
                    await database.try_to_write()

    async def write_logs_back(self) -> None:
        """Copy the pages of large write-ahead logs into their database files. Log each failure, so that an admin
        notices that a write-ahead log keeps growing.
        """
        known = [self._installation.platform, *self._installation.files.open]
        sizes = await asyncio.to_thread(lambda: {each: log_bytes(each.path) for each in known})
        large = {each for each, size in sizes.items() if size > LOG_BYTES}
        for database in large | self._with_failed_logs:
            what = f"the write-ahead log of {database.path} cannot be written back, and keeps growing"
            self._with_failed_logs.discard(database)
            try:
                await database.write_log_back()
                self._complaints.over(what)
            except FileMoved:
                pass
            except sqlite3.Error as error:
                self._with_failed_logs.add(database)
                self._complaints.failed(what, error)

    async def make_reserve(self) -> None:
        """Create the emergency space reserve, if its file is missing and the disk has enough space."""
        await asyncio.to_thread(self._installation.folder.make_reserve)

    async def watch_the_disk(self) -> None:
        await self.disk_watch.look()
        await self.room_watch.look()

    async def keep_today(self) -> None:
        """Refresh the figures of the page Today that have changed, and notify open pages."""
        try:
            await self.today.keep()
        finally:
            self.changes.tell()

    async def sweep_tokens(self) -> None:
        if not self.clock_watch.is_steady():
            return  # a wrong clock could make tokens look expired
        swept = await self._installation.platform.write(token_store.sweep_expired_tokens)
        if swept:
            LOG.info("deleted %s", count_of(swept, "expired token"))
        await self._installation.access.write_session_uses()
        if ended := await self._installation.access.sweep_sessions():
            LOG.info("deleted %s", count_of(ended, "ended session", "ended sessions"))

    async def tell_of_ending_tokens(self) -> None:
        """Log warnings for the tokens that expire soon: two weeks before, and one day before."""
        if not self.clock_watch.is_steady():
            return  # a wrong clock could make tokens look expired
        while ending := await self._installation.platform.write(ending_tokens.tokens_to_log, is_quiet=True):
            for each in ending:
                LOG.warning(
                    "the token %d (%s) of %s expires at %s, in %s; last used: %s. Create a new token in time",
                    *(each["id"], each["name"], each["user"], each["expires_at"]),
                    count_of(each["days"], "day"),
                    each["last_used_at"] or "never",
                )

    async def forget_old_requests(self) -> None:
        if self.clock_watch.is_steady():
            await asyncio.to_thread(self._installation.history.forget_old)

    async def tidy_files(self) -> None:
        """Tidy each open file, and once a day also each closed file. Companies that nobody uses thus cause almost
        no work.

        If the file of one company fails, continue with the files of the other companies.
        """
        files, now = self._installation.files, self._clock.monotonic()
        for company_id, company in (await self._installation.access.companies()).items():
            if not self.clock_watch.is_steady():
                return  # a wrong clock could make things look old
            is_daily = now - self._tidied_at.get(company_id, -math.inf) >= A_DAY_SECONDS
            if company_id in files.failed or not (is_daily or files.is_open(company_id)):
                continue
            what = f"the file of company {company_id} could not be tidied; other files are not affected"
            try:
                await files.visit(company_id, partial(self._tidy, company=company, is_daily=is_daily))
                self._complaints.over(what)
            except Exception as error:
                self._complaints.failed(what, error)
                if is_damage(error):
                    files.suspect(company_id, error)
            else:
                if is_daily:
                    self._tidied_at[company_id] = now

    async def _tidy(self, database: Database, company: Company, is_daily: bool) -> None:
        """Delete old test receivers, events, idempotency keys and webhook deliveries. Each write deletes only a
        few, so that requests do not wait.

        Also switch off webhooks that have failed for days. If `is_daily` is True, refresh SQLite's statistics,
        because SQLite plans queries badly with outdated statistics.
        """
        for some in (end_old_receivers, forget_old_events, forget_old_keys, forget_old_deliveries):
            while await database.write(some, is_quiet=True):  # quiet: deletions make nothing due
                pass
        if off_because(company) is not None or company.sends_nothing:
            await database.write(pass_over, is_quiet=True)
        elif await database.write(count_failing, is_quiet=True):
            self.sender.committed(company.id)  # the sender writes the audit of switched-off subscriptions
        if is_daily:
            await database.write(refresh_statistics, is_quiet=True)
