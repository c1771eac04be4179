"""Starts the scheduled work on backups beside the server: a process of its own, which takes no time from
requests.
"""

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
    ProvenBackup,
    change_record,
    read_record,
)
from wmsd.maintenance.backups.schedule import is_something_due, local_now
from wmsd.settings.sections.backup import Backup

LOG = logging.getLogger("wmsd.backup")
AFTER_A_FAILURE_SECONDS: Final = 3600.0
NOW: Final = "--now"
PROGRESS: Final = "--progress"
"""Options of the command."""
SAID: Final = "wmsd: "
"""How the sentences of a command that failed begin."""


PATIENCE_SECONDS: Final = 2.0


class Seen(NamedTuple):
    """What backups there are, and what to think of it."""

    verdict: Verdict
    made: MadeBackup | None
    """The last scheduled one, if it is there."""
    proven: ProvenBackup | None
    """The last proof, as long as there is what it is about."""


class ScheduledBackups:
    """`command` is `wmsd backup schedule --run`, as this server can start it."""

    def __init__(self, command: Sequence[str], settings: Backup, data: DataFolder, clock: Clock) -> None:
        self.settings = settings
        self._data = data
        self._clock = clock
        self._not_before = 0.0
        self._beside = Beside(command, self._hear)
        self.progress: Mapping[str, Any] = {}
        """How far the work under way has come, as it says itself; empty as long as it has said nothing."""
        self._asked: asyncio.Task[None] | None = None
        self._gone: str | None = None
        """What the last look has found to be gone."""
        self._seeing: asyncio.Future[Seen] | None = None
        self._seeing_since = 0.0

    @property
    def is_running(self) -> bool:
        return self._beside.is_running or (self._asked is not None and not self._asked.done())

    async def look(self) -> None:
        """Starts the work when it is due, and waits for its end. After a failure it waits for an hour."""
        if self.settings.every == "never" or self._clock.monotonic() < self._not_before or self.is_running:
            return
        if not await asyncio.to_thread(is_something_due, self.settings, self._data) or self.is_running:
            return
        if not await asyncio.to_thread(self._tell_of_gone):
            await self._work()

    def _tell_of_gone(self) -> bool:
        """Whether it has just found that a backup is gone. The work waits for the next look then: alerts look more
        often than this, and would not see what is mended at once.
        """
        gone = what_is_gone(self.settings, self.record(), local_now())
        is_new = gone is not None and gone != self._gone
        self._gone = gone
        if is_new:
            LOG.error("%s; a new one is made and proven soon", gone)
        return is_new

    def begin(self) -> bool:
        """Has a backup made and proven now, whether it is due or not. Returns False where one is under way."""
        if self.is_running:
            return False
        self._asked = asyncio.ensure_future(self._begun())
        return True

    async def _begun(self) -> None:
        try:
            await self._work(NOW)
        except Exception as error:
            LOG.exception("the work on backups could not be begun")
            self._note_failure(str(error) or type(error).__name__)

    async def _work(self, *options: str) -> None:
        try:
            ended = await self._beside.run(PROGRESS, *options)
        finally:
            self.progress = {}
        await asyncio.to_thread(self._tell, *ended)

    def _hear(self, line: dict[str, Any]) -> None:
        self.progress = line

    def _tell(self, code: int, lines: list[str]) -> None:
        if code:
            for line in [each for each in lines if each.startswith(SAID)] or lines[-1:]:
                LOG.error("%s", line.removeprefix(SAID))
            self._not_before = self._clock.monotonic() + AFTER_A_FAILURE_SECONDS
            if self.verdict().ok:  # it could not say so itself
                self._note_failure(lines[-1] if lines else f"it ended with {code}")
            LOG.error("the work on backups ended with %d; the next attempt is in an hour", code)
        else:
            LOG.info("backup: %s", self.verdict().sentence)

    def _note_failure(self, last_line: str) -> None:
        failed = FailedBackup(at=timestamps.to_text(self._clock.now()), error=last_line.removeprefix(SAID))
        with suppress(OSError):
            change_record(self._data.path, lambda record: record.model_copy(update={"failed": failed}))

    def record(self) -> BackupRecord:
        return read_record(self._data.path)

    def verdict(self) -> Verdict:
        """It looks at the disk: call it on a thread."""
        return backup_verdict(self.settings, self.record(), local_now())

    async def seen(self) -> Seen:
        """What is there now. Everybody may ask, also strangers for the health: a disk that does not answer,
        such as one in the network, holds one thread, and nobody for longer than PATIENCE_SECONDS.
        """
        loop = asyncio.get_running_loop()
        if self._seeing is None or self._seeing.done():
            self._seeing, self._seeing_since = loop.run_in_executor(None, self._see), loop.time()
        seeing = self._seeing
        await asyncio.wait([seeing], timeout=max(0.0, self._seeing_since + PATIENCE_SECONDS - loop.time()))
        if seeing.done():
            return seeing.result()
        judged = Verdict(False, f"the folder of the backups, {self.settings.folder}, does not answer")
        return Seen(judged, None, None)

    def _see(self) -> Seen:
        record = self.record()
        judged, there = backup_verdict(self.settings, record, local_now()), record.there(self.settings)
        return Seen(judged, there.made, there.proven)

    async def stop(self) -> None:
        """Ends the process: what it has begun is removed with the next backup."""
        await self._beside.stop()
        if self._asked is not None:
            await asyncio.wait([self._asked], timeout=STOP_SECONDS)
            self._asked.cancel()
