"""Starts the scheduled work on backups beside the server: a process of its own, which takes no time from
requests.
"""

import asyncio
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from wmsd.app.backups.due import is_something_due, local_now
from wmsd.app.backups.record import BackupRecord, FailedBackup, read_record, write_record
from wmsd.app.backups.verdict import verdict
from wmsd.app.data_folder import DataFolder
from wmsd.app.settings import Backup
from wmsd.base import timestamps
from wmsd.base.clock import Clock

LOG = logging.getLogger("wmsd.backup")
AFTER_A_FAILURE_SECONDS: Final = 3600.0
STOP_SECONDS: Final = 5.0
SAID: Final = "wmsd: "
"""How the sentences of a command that failed begin."""


class ScheduledBackups:
    """`command` is `wmsd backup schedule --run`, as this server can start it."""

    def __init__(self, command: Sequence[str], settings: Backup, data: DataFolder, clock: Clock) -> None:
        self._command = command
        self.settings = settings
        self._data = data
        self._clock = clock
        self._not_before = 0.0
        self._process: asyncio.subprocess.Process | None = None

    async def look(self) -> None:
        """Starts the work when it is due, and waits for its end. After a failure it waits for an hour."""
        if self.settings.every == "never" or self._clock.monotonic() < self._not_before:
            return
        if not await asyncio.to_thread(is_something_due, self.settings, self._data):
            return
        environment = {**os.environ, "PYINSTALLER_RESET_ENVIRONMENT": "1"}
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
        try:
            _, said = await self._process.communicate()
            self._tell(self._process.returncode, said)
        finally:
            self._process = None

    def _tell(self, code: int | None, said: bytes) -> None:
        if code:
            lines = said.decode(errors="replace").splitlines()
            for line in [each for each in lines if each.startswith(SAID)] or lines[-1:]:
                LOG.error("%s", line.removeprefix(SAID))
            self._not_before = self._clock.monotonic() + AFTER_A_FAILURE_SECONDS
            if verdict(self.settings, self.record(), local_now()).ok:  # it could not say so itself
                self._note_failure(lines[-1] if lines else f"it ended with {code}")
            LOG.error("the work on backups ended with %d; the next attempt is in an hour", code)
        else:
            LOG.info("backup: %s", verdict(self.settings, self.record(), local_now()).sentence)

    def _note_failure(self, last_line: str) -> None:
        failed = FailedBackup(at=timestamps.to_text(self._clock.now()), error=last_line.removeprefix(SAID))
        with suppress(OSError):
            write_record(self._data.path, self.record().model_copy(update={"failed": failed}))

    def record(self) -> BackupRecord:
        return read_record(self._data.path)

    async def stop(self) -> None:
        """Ends the process: what it has begun is removed with the next backup."""
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError):
                process.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), STOP_SECONDS)
