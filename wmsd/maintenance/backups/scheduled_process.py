"""Starts the scheduled backup work in a separate process, so that it does not slow down the server's requests."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.data_folder.folder import DataFolder
from wmsd.installation.child_command import STOP_SECONDS, Beside
from wmsd.maintenance.backups.backup_verdict import Verdict, backup_verdict, what_is_gone
from wmsd.maintenance.backups.last_runs import (
    BackupRecord,
    FailedBackup,
    MadeBackup,
    VerifiedBackup,
    change_record,
    read_record,
)
from wmsd.maintenance.backups.schedule import is_something_due, local_now
from wmsd.settings.sections.backup import Backup

LOG = logging.getLogger("wmsd.backup")
AFTER_A_FAILURE_SECONDS: Final = 3600.0
NOW: Final = "--now"
PROGRESS: Final = "--progress"
"""`NOW` and `PROGRESS` are options of the command `wmsd backup schedule --run`."""
SAID: Final = "wmsd: "
"""The prefix of the error messages of a failed command."""


PATIENCE_SECONDS: Final = 2.0


class Seen(NamedTuple):
    """The existing backups, and whether they are in order."""

    verdict: Verdict
    made: MadeBackup | None
    """The last scheduled backup, if its archive exists."""
    proven: VerifiedBackup | None
    """The last verification, if its archive exists."""


class ScheduledBackups:
    """Starts the scheduled backup work in a separate process. `command` is `wmsd backup schedule --run`, run with
    the program of this server.
    """

    def __init__(self, command: Sequence[str], settings: Backup, data: DataFolder, clock: Clock) -> None:
        self.settings = settings
        self._data = data
        self._clock = clock
        self._not_before = 0.0
        self._beside = Beside(command, self._hear)
        self.progress: Mapping[str, Any] = {}
        """The progress of the running work, as its process reports it. Empty until the first report."""
        self._asked: asyncio.Task[None] | None = None
        self._gone: str | None = None
        """The sentence about a missing backup from the last check, or None if no backup was missing."""
        self._seeing: asyncio.Future[Seen] | None = None
        self._seeing_since = 0.0

    @property
    def is_running(self) -> bool:
        return self._beside.is_running or (self._asked is not None and not self._asked.done())

    async def look(self) -> None:
        """If the work is due, start it and wait for its end. After a failure, wait an hour before the next
        attempt.
        """
        if self.settings.every == "never" or self._clock.monotonic() < self._not_before or self.is_running:
            return
        if not await asyncio.to_thread(is_something_due, self.settings, self._data) or self.is_running:
            return
        if not await asyncio.to_thread(self._log_missing_backup):
            await self._work()

    def _log_missing_backup(self) -> bool:
        """Return True if a backup has disappeared since the last check, and log this.

        If the result is True, the caller must wait until the next check before it creates a new backup. So an
        alert can report the missing backup before the new backup solves the problem.
        """
        gone = what_is_gone(self.settings, self.record(), local_now())
        is_new = gone is not None and gone != self._gone
        self._gone = gone
        if is_new:
            LOG.error("%s; wmsd will create and verify a new backup soon", gone)
        return is_new

    def begin(self) -> bool:
        """Start a backup and its verification now, whether they are due or not. Return False if the work is
        already running.
        """
        if self.is_running:
            return False
        self._asked = asyncio.ensure_future(self._begun())
        return True

    async def _begun(self) -> None:
        try:
            await self._work(NOW)
        except Exception as error:
            LOG.exception("the backup process could not be started")
            self._note_failure(str(error) or type(error).__name__)

    async def _work(self, *options: str) -> None:
        try:
            ended = await self._beside.run(PROGRESS, *options)
        finally:
            self.progress = {}
        await asyncio.to_thread(self._log, *ended)

    def _hear(self, line: dict[str, Any]) -> None:
        self.progress = line

    def _log(self, code: int, lines: list[str]) -> None:
        if code:
            for line in [each for each in lines if each.startswith(SAID)] or lines[-1:]:
                LOG.error("%s", line.removeprefix(SAID))
            self._not_before = self._clock.monotonic() + AFTER_A_FAILURE_SECONDS
            if self.verdict().ok:  # the process could not record the failure itself
                self._note_failure(lines[-1] if lines else f"the backup process ended with exit status {code}")
            LOG.error("the backup process ended with exit status %d; the next attempt is in an hour", code)
        else:
            LOG.info("backup: %s", self.verdict().sentence)

    def _note_failure(self, last_line: str) -> None:
        failed = FailedBackup(at=timestamps.to_text(self._clock.now()), error=last_line.removeprefix(SAID))
        with suppress(OSError):
            change_record(self._data.path, lambda record: record.model_copy(update={"failed": failed}))

    def record(self) -> BackupRecord:
        return read_record(self._data.path)

    def verdict(self) -> Verdict:
        """Check whether the existing backups are in order, and return the result with a sentence. Call this method
        on a thread, because it reads the disk.
        """
        return backup_verdict(self.settings, self.record(), local_now())

    async def seen(self) -> Seen:
        """Return the existing backups, and whether they are in order.

        Anonymous callers of the health check use this method too, so a disk that does not respond must not block
        many threads. Only one thread waits for the disk. After PATIENCE_SECONDS at the latest, the callers get the
        result that the backup folder does not respond.
        """
        loop = asyncio.get_running_loop()
        if self._seeing is None or self._seeing.done():
            self._seeing, self._seeing_since = loop.run_in_executor(None, self._see), loop.time()
        seeing = self._seeing
        await asyncio.wait([seeing], timeout=max(0.0, self._seeing_since + PATIENCE_SECONDS - loop.time()))
        if seeing.done():
            return seeing.result()
        judged = Verdict(False, f"the backup folder {self.settings.folder} does not respond")
        return Seen(judged, None, None)

    def _see(self) -> Seen:
        record = self.record()
        judged, there = backup_verdict(self.settings, record, local_now()), record.there(self.settings)
        return Seen(judged, there.made, there.proven)

    async def stop(self) -> None:
        """Stop the process. The next backup removes the unfinished files of the process."""
        await self._beside.stop()
        if self._asked is not None:
            await asyncio.wait([self._asked], timeout=STOP_SECONDS)
            self._asked.cancel()
