"""Work that is done without a request, each job at its own interval; tables say what is due."""

import asyncio
import logging
import math
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final

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
from wmsd.server import job_names
from wmsd.server.alerts.alerts import ALERT_SECONDS, Alerts
from wmsd.server.alerts.channels import channels_of
from wmsd.server.alerts.conditions import Looks
from wmsd.server.alerts.disk_watch import LOOK_SECONDS, DiskWatch
from wmsd.server.job_log import JobLog
from wmsd.server.job_names import Job, Words
from wmsd.server.missing_credentials import LostCredentials
from wmsd.server.today.kept_figures import TodayFigures
from wmsd.server.today.quota_watch import RoomWatch
from wmsd.tenants.accounts import expiring_tokens, token_store

LOG = logging.getLogger("wmsd.jobs")
NOTICE_CHANGES_SECONDS = 0.5
"""Half of the second within which a running server acts on changes by the command line."""

SENDER_TICK_SECONDS = 0.5
TRY_AGAIN_SECONDS = 5.0
A_DAY_SECONDS: Final = 86_400.0


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
        """`complete`: for the commands in alerts."""
        self._installation = installation
        self.today = today
        self.changes = changes
        self.backups = backups
        self.imports = imports
        self.sender = sender
        self._clock: Clock = installation.clock
        self.clock_watch = ClockWatch(installation.platform, installation.clock)
        self.disk_watch = DiskWatch(installation.folder)
        self.room_watch = RoomWatch(installation, today)
        self._lost_credentials = LostCredentials(installation)
        self.alerts = Alerts(
            installation.folder.path,
            installation.clock,
            installation.ids,
            Looks(installation, self.disk_watch, self.room_watch, self.clock_watch, today, backups),
            channels_of(installation.settings, installation.folder.path, installation.clock, complete=complete),
        )
        self._repeating: list[asyncio.Task[None]] = []
        self._complaints = RepeatedFailures(LOG, STORAGE_FAILURES)
        self.last_tick = self._clock.monotonic()
        self._with_failed_logs: set[Database] = set()
        self._tidied_at: dict[int, float] = {}
        """When each company's file was last tidied as once a day."""
        self.log = JobLog(self._clock)
        self._jobs = self._declared()
        for seconds, job, words in self._jobs:
            self.log.declare(job.__name__, *words, every=seconds)

    def _declared(self) -> list[tuple[float, Job, Words]]:
        """Every job, with the seconds from one run to the next, and what it does in words for people."""
        access, files, marks = self._installation.access, self._installation.files, self._installation.marks
        jobs: list[tuple[float, Job, Words]] = [
            (NOTICE_CHANGES_SECONDS, self._notice_changes, job_names.NOTICE_CHANGES),
            (SENDER_TICK_SECONDS, self.sender.tick, job_names.SEND_WEBHOOKS),
            (1, self.watch_the_clock, job_names.WATCH_CLOCK),
            (600, self.clock_watch.keep, job_names.KEEP_CLOCK),
            (60, access.write_token_uses, job_names.WRITE_TOKEN_USES),
            (60, access.write_session_uses, job_names.WRITE_SESSION_USES),
            (60, self._installation.failed_sign_ins.write_failed_sign_ins, job_names.WRITE_FAILED_SIGN_INS),
            (60, self.write_request_counts, job_names.WRITE_REQUEST_COUNTS),
            (60, marks.write, job_names.WRITE_MARKS),
            (1, self.keep_today, job_names.KEEP_TODAY),
            (10, files.close_unused, job_names.CLOSE_UNUSED),
            (TRY_AGAIN_SECONDS, self.try_failed_writes, job_names.TRY_FAILED_WRITES),
            (TRY_AGAIN_SECONDS, self.write_logs_back, job_names.WRITE_LOGS_BACK),
            (TRY_AGAIN_SECONDS, self.look_at_credentials, job_names.LOOK_AT_CREDENTIALS),
            (60, self.make_reserve, job_names.MAKE_RESERVE),
            (LOOK_SECONDS, self.watch_the_disk, job_names.WATCH_DISK),
            (ALERT_SECONDS, self.watch_for_alerts, job_names.ALERT),
            (3600, self.sweep_tokens, job_names.SWEEP_TOKENS),
            (3600, self.tell_of_ending_tokens, job_names.TELL_OF_TOKENS),
            (3600, self.tidy_files, job_names.TIDY_FILES),
            (3600, self.forget_old_requests, job_names.FORGET_REQUESTS),
        ]
        if self.imports is not None:
            jobs.append((3600, self.imports.forget_old, job_names.FORGET_UPLOADS))
        return jobs if self.backups is None else [*jobs, (60, self.backups.look, job_names.LOOK_AT_BACKUPS)]

    async def start(self) -> None:
        """The watch of the clock is started before, apart: nothing may change until then."""
        self._repeating = [asyncio.ensure_future(self._repeat(seconds, job)) for seconds, job, _ in self._jobs]
        await self.sender.start()

    async def stop(self) -> None:
        for each in self._repeating:
            each.cancel()
        if self.backups is not None:
            await self.backups.stop()
        if self.imports is not None:
            await self.imports.stop()
        await self.sender.stop()
        await self.alerts.stop()
        await self._run(self._installation.access.write_token_uses)
        await self._run(self._installation.access.write_session_uses)
        await self._run(self._installation.failed_sign_ins.write_last)
        await self._run(self._installation.marks.write)
        await self._run(self.today.write)
        await self._run(self.clock_watch.keep)

    @property
    def seconds_since_tick(self) -> float:
        return self._clock.monotonic() - self.last_tick

    async def _repeat(self, seconds: float, job: Job) -> None:
        """Runs a job each so many seconds, by the monotonic clock: nothing waits when the wall clock is set. Times
        that come while it runs, or while the machine is suspended, are left out.
        """
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due += seconds * (1 + max(0.0, loop.time() - due) // seconds)
            await asyncio.sleep(due - loop.time())
            await self._run(job)

    async def _run(self, job: Job) -> None:
        what = f"the job {job.__name__} failed; it runs again at its next time"
        try:
            with self.log.run(job.__name__):
                await job()
            self._complaints.over(what)
        except Exception as error:
            self._complaints.failed(what, error)

    async def _notice_changes(self) -> None:
        self.last_tick = self._clock.monotonic()
        self._installation.files.notice_moved()
        if await self._installation.access.forget_if_changed():
            await self.clock_watch.hear()
            await self._end_streams()
            await self._end_imports()

    async def _end_streams(self) -> None:
        """Open pages of a session that somebody has ended are told at once, not only with the next beat."""
        if ended := await self._installation.access.ended_of(self.changes.sessions):
            self.changes.end_sessions(ended)

    async def _end_imports(self) -> None:
        """Those of companies that were suspended."""
        if self.imports is not None:
            known = await self._installation.access.companies()
            self.imports.end_of({each.id for each in known.values() if each.suspended_at is not None})

    async def watch_the_clock(self) -> None:
        await self.clock_watch.tick()

    async def try_failed_writes(self) -> None:
        """Finds out when a failed disk works again, even if nobody writes."""
        for database in (self._installation.platform, *self._installation.files.databases):
            if database.writes.failure is not None:
                with suppress(*STORAGE_FAILURES):
                    if database is not self._installation.platform:
                        await self._installation.files.open.use(database)
                    await database.try_to_write()

    async def look_at_credentials(self) -> None:
        await self._lost_credentials.look()

    async def write_logs_back(self) -> None:
        """Writes logs back into their files. Logs a failure, because otherwise the log would grow unnoticed."""
        known = [self._installation.platform, *self._installation.files.open]
        for database in {*await asyncio.to_thread(_with_large_logs, known), *self._with_failed_logs}:
            what = f"the log of {database.path} cannot be written into it, and grows"
            self._with_failed_logs.discard(database)
            try:
                await database.write_log_back()
                self._complaints.over(what)
            except FileMoved:
                pass  # logged with the company's file
            except sqlite3.Error as error:
                self._with_failed_logs.add(database)
                self._complaints.failed(what, error)

    async def make_reserve(self) -> None:
        """Makes the reserve again when there is room after the disk was full."""
        await asyncio.to_thread(self._installation.folder.make_reserve)

    async def watch_the_disk(self) -> None:
        await self.disk_watch.look()
        await self.room_watch.look()

    async def watch_for_alerts(self) -> None:
        await self.alerts.look()

    async def keep_today(self) -> None:
        """Reads the figures of the page Today where something has changed, and then tells open pages of it."""
        try:
            await self.today.keep()
        finally:
            self.changes.tell()

    async def write_request_counts(self) -> None:
        await self._installation.requests.write()

    async def sweep_tokens(self) -> None:
        if not self.clock_watch.is_steady():
            return  # a wrong clock may only make them look expired
        swept = await self._installation.platform.write(token_store.sweep_expired_tokens)
        if swept:
            LOG.info("swept %s", count_of(swept, "expired token"))
        await self._installation.access.write_session_uses()
        if ended := await self._installation.access.sweep_sessions():
            LOG.info("swept %s", count_of(ended, "session that was over", "sessions that were over"))

    async def tell_of_ending_tokens(self) -> None:
        """Has the log tell of each token two weeks and a day before its end."""
        if not self.clock_watch.is_steady():
            return  # a wrong clock may only make them look so
        while told := await self._installation.platform.write(expiring_tokens.tokens_to_log, is_quiet=True):
            for each in told:
                LOG.warning(
                    "the token %d (%s) of %s expires at %s, in %s; last used: %s. Make another one in time",
                    *(each["id"], each["name"], each["user"], each["expires_at"]),
                    count_of(each["days"], "day"),
                    each["last_used_at"] or "never",
                )

    async def forget_old_requests(self) -> None:
        if self.clock_watch.is_steady():
            await asyncio.to_thread(self._installation.history.forget_old)

    async def tidy_files(self) -> None:
        """Tidies each open file, and once a day every file: so a company that nobody uses costs next to nothing.

        A company whose file fails is left out; the others go on.
        """
        files, now = self._installation.files, self._clock.monotonic()
        for company_id, company in (await self._installation.access.companies()).items():
            if not self.clock_watch.is_steady():
                return  # a wrong clock may only make things look old
            is_daily = now - self._tidied_at.get(company_id, -math.inf) >= A_DAY_SECONDS
            if company_id in files.failed or not (is_daily or files.is_open(company_id)):
                continue
            what = f"the file of company {company_id} could not be tidied; the others are"
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
        """Deletes old events, keys and deliveries, some at a time, so that orders do not wait for it. Switches off
        the subscriptions that have failed for days. Once a day, refreshes SQLite's statistics: without them it
        picks bad plans as tables grow.
        """
        for some in (end_old_receivers, forget_old_events, forget_old_keys, forget_old_deliveries):
            while await database.write(some, is_quiet=True):  # it makes nothing due
                pass
        if off_because(company) is not None or company.sends_nothing:
            await database.write(pass_over, is_quiet=True)
        elif await database.write(count_failing, is_quiet=True):
            self.sender.committed(company.id)  # it audits what was switched off
        if is_daily:
            await database.write(refresh_statistics, is_quiet=True)


def _with_large_logs(databases: Iterable[Database]) -> list[Database]:
    return [each for each in databases if log_bytes(each.path) > LOG_BYTES]
